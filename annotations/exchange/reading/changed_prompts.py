"""Read a file of corrected prompts, each with the reason for the change."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.prompts import PromptItem
from annotations.exchange.reading.source import Readable, make_source
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
    """A prompt that replaces a wording of the original file, with the reason for the change."""

    prompt: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChangedPrompts:
    """Corrected prompts of a file, by (item id, position of the variant in its item, from 0)."""

    name: str
    sha256: str
    prompts: dict[tuple[str, int], ChangedPrompt]


def read_changed_prompts(file: Readable, items: tuple[PromptItem, ...]) -> ChangedPrompts:
    """Read a table of corrected prompts: item, language, variant (from 1), prompt, reason.

    Raises
    ------
    InputError
        Every row with a missing cell, a wording that the prompts do not have, or one that another
        row has changed already.
    """
    by_id = {item.id: item for item in items}
    problems = Problems(make_source(file).name)
    table = open_table(file, COLUMNS, problems)
    changed: dict[tuple[str, int], ChangedPrompt] = {}
    for line, (item, language, variant, prompt, reason), _ in table.rows:
        n_problems = problems.total
        for name, value in (("prompt", prompt), ("reason", reason)):
            if not value.strip():
                problems.add_code(line, name, "change_value_missing", name=name)
        position = _find_variant_position(
            by_id.get(clean_id(item)), clean_id(language).lower(), variant.strip()
        )
        if position is None:
            problems.add_code(
                line,
                "variant",
                "wording_unknown",
                item=clean_id(item),
                language=normalise_text(language) or "(none)",
                variant=variant,
            )
        elif (clean_id(item), position) in changed:
            problems.add_code(line, "variant", "wording_changed_twice")
        elif problems.total == n_problems:
            changed[clean_id(item), position] = ChangedPrompt(prompt, normalise_text(reason))
    problems.raise_if_any()
    return ChangedPrompts(table.name, table.sha256, changed)


def _find_variant_position(item: PromptItem | None, language: str, variant: str) -> int | None:
    """Return the position of a variant in its item, from 0; None if it does not exist."""
    # Variants are counted within a language, so a number alone may mean several wordings.
    if item is None or not variant.isdecimal() or (not language and len(item.languages) > 1):
        return None
    variants = item.list_variants_in(language or item.languages[0])
    index = int(variant) - 1
    return variants[index].place if 0 <= index < len(variants) else None
