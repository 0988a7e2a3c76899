"""Prompts that are put to a system in other words than the file has, and why."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.prompts import PromptItem
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table

COLUMNS = (
    Column("item", ("item",), renamed_by=""),
    Column("language", ("language",), required=False, renamed_by=""),
    Column("variant", ("variant",), renamed_by=""),
    Column("prompt", ("prompt",), renamed_by=""),
    Column("reason", ("reason",), renamed_by=""),
)


@dataclass(frozen=True, slots=True)
class ChangedPrompt:
    """A prompt in place of that of the file, and why it was changed."""

    prompt: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChangedPrompts:
    """Changed prompts by item and place of the wording among those of the item."""

    name: str
    sha256: str
    prompts: dict[tuple[str, int], ChangedPrompt]


def read_changed_prompts(given: Readable, items: tuple[PromptItem, ...]) -> ChangedPrompts:
    """Read a table: item, language (where it has several), variant (from 1), prompt and reason.

    Raises
    ------
    InputError
        Every row with a missing cell, a wording that the prompts do not have, or one that another
        row has changed already.
    """
    by_id = {item.id: item for item in items}
    problems = Problems(source_of(given).name)
    table = open_table(given, COLUMNS, problems)
    found: dict[tuple[str, int], ChangedPrompt] = {}
    for line, (item, language, variant, prompt, reason), _ in table.rows:
        before = problems.total
        for name, value in (("prompt", prompt), ("reason", reason)):
            if not value.strip():
                problems.add_code(line, name, "change_value_missing", name=name)
        place = _place(by_id.get(clean_id(item)), clean_id(language).lower(), variant.strip())
        if place is None:
            problems.add_code(
                line,
                "variant",
                "wording_unknown",
                item=clean_id(item),
                language=cleaned(language) or "(none)",
                variant=variant,
            )
        elif (clean_id(item), place) in found:
            problems.add_code(line, "variant", "wording_changed_twice")
        elif problems.total == before:
            found[clean_id(item), place] = ChangedPrompt(prompt, cleaned(reason))
    problems.raise_if_any()
    return ChangedPrompts(table.name, table.sha256, found)


def _place(item: PromptItem | None, language: str, variant: str) -> int | None:
    if item is None or not variant.isdecimal() or (not language and len(item.languages) > 1):
        return None
    among = item.variants_in(language or item.languages[0])
    at = int(variant) - 1
    return among[at].place if 0 <= at < len(among) else None
