"""Read prompts in several wordings, in the format of the ELOQUENT robustness task.

A file is {"eloquent-robustness-test": {"source", "year", "items": [{"id", "variation",
"variants": [{"language", "prompt"}]}]}}. The organisers' own file of 2024 lacks two commas.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, normalise_text
from annotations.exchange.reading.json_document import JsonObject, MissingComma, read_json
from annotations.exchange.reading.source import Readable

TOP = "eloquent-robustness-test"


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """One wording of an item; `place` is its position in the item, from 0, over all languages."""

    place: int
    language: str
    prompt: str
    line: int


@dataclass(frozen=True, slots=True)
class PromptItem:
    """One question in several wordings; `variation` names what differs between them."""

    id: str
    variation: str
    variants: tuple[PromptVariant, ...]
    line: int

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the item, in the order of their first wordings."""
        return tuple(dict.fromkeys(variant.language for variant in self.variants))

    def list_variants_in(self, language: str) -> tuple[PromptVariant, ...]:
        """Return the wordings of the item in one language."""
        return tuple(variant for variant in self.variants if variant.language == language)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """Items of a file of prompts, its source and year, and the commas added to read it.

    Attributes
    ----------
    source, year : of the file, as text; "" where it has none.
    repairs : the commas that were added; `mended` the file with them.
    n_repeated : how many variants repeat another one of their item and language word by word.
    warnings : sentences, such as on its encoding.
    """

    name: str
    sha256: str
    source: str
    year: str
    items: tuple[PromptItem, ...]
    repairs: tuple[MissingComma, ...] = ()
    mended: str = ""
    n_repeated: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def n_prompts(self) -> int:
        """Number of prompts: all wordings of all items."""
        return sum(len(item.variants) for item in self.items)

    @property
    def languages(self) -> dict[str, int]:
        """Number of prompts by language, in the order of the file."""
        return dict(Counter(variant.language for item in self.items for variant in item.variants))

    @property
    def variations(self) -> dict[str, int]:
        """Number of items by kind of variation, in the order of the file."""
        return dict(Counter(item.variation for item in self.items))


def read_prompts(file: Readable, *, repair: bool = False) -> PromptFile:
    """Read a file of prompts; with `repair`, add missing commas and list them.

    Ids and kinds of variation are trimmed and in NFC, ids that are numbers as they are written;
    languages also in small letters. Prompts are read unchanged. Further keys are ignored.

    Raises
    ------
    InputError
        It is no JSON, or not of the layout; every item and variant with a missing, empty or
        wrong field, and every id that occurs twice, with its line.
    """
    document = read_json(file, repair=repair, has_repair=True)
    problems = Problems(document.name)
    test = _get_test_object(document.name, document.value)
    listed = test.get("items")
    if not isinstance(listed, list) or not listed:
        raise InputError.from_code(document.name, "no_items", line=test.line)
    items: list[PromptItem] = []
    seen: dict[str, int] = {}
    for number, entry in enumerate(listed, 1):
        item = _read_item(problems, entry, f"item {number} of the list", test.line)
        if item is None:
            continue
        first = seen.setdefault(item.id, item.line)
        # `seen` did not grow: the id was there before.
        if len(seen) == len(items):
            problems.add_code(item.line, "id", "item_twice", item=item.id, first_line=first)
            continue
        items.append(item)
    problems.raise_if_any()
    return PromptFile(
        document.name,
        document.sha256,
        _format_fact(test.get("source")),
        _format_fact(test.get("year")),
        tuple(items),
        document.repairs,
        document.text,
        sum(_count_repeated_wordings(item) for item in items),
        document.warnings,
    )


def _get_test_object(name: str, value: Any) -> JsonObject:
    """Return the object "eloquent-robustness-test" of a document; `InputError` without it."""
    test = value.get(TOP) if isinstance(value, JsonObject) else None
    if isinstance(test, JsonObject):
        return test
    keys = ", ".join(list(value)[:5]) if isinstance(value, JsonObject) else "no object"
    raise InputError.from_code(name, "no_top_object", top=TOP, found=keys or "nothing")


def _read_item(problems: Problems, entry: Any, what: str, line: int) -> PromptItem | None:
    """Return the item in a JSON entry; None if it is bad (then problems are recorded)."""
    if not isinstance(entry, JsonObject):
        problems.add_code(line, None, "entry_no_object", what=what)
        return None
    n_problems = problems.total
    name = _read_text_field(problems, entry, "id", what)
    if name:
        what = f"item {name}"
    variation = _read_text_field(problems, entry, "variation", what)
    variants = entry.get("variants")
    if not isinstance(variants, list) or not variants:
        problems.add_code(entry.line, "variants", "no_variants", what=what)
        variants = []
    wordings = [
        _read_variant(problems, place, variant, what, entry.line)
        for place, variant in enumerate(variants)
    ]
    if problems.total > n_problems:
        return None
    return PromptItem(name, variation, tuple(v for v in wordings if v is not None), entry.line)


def _read_variant(
    problems: Problems, place: int, entry: Any, what: str, line: int
) -> PromptVariant | None:
    """Return the wording in a JSON entry; None if it is bad (then a problem is recorded)."""
    what = f"variant {place + 1} of {what}"
    if not isinstance(entry, JsonObject):
        problems.add_code(line, None, "variant_no_object", what=what)
        return None
    language = _read_text_field(problems, entry, "language", what).lower()
    if not _read_text_field(problems, entry, "prompt", what):
        return None
    # As written: `_read_text_field` trims and normalises what it returns.
    prompt = str(entry["prompt"])
    if len(prompt.encode()) > LONGEST_ANSWER:
        problems.add_code(entry.line, "prompt", "prompt_too_long", what=what, most=LONGEST_ANSWER)
        return None
    return PromptVariant(place, language, prompt, entry.line) if language else None


def _read_text_field(problems: Problems, entry: JsonObject, key: str, what: str) -> str:
    """Return a text, or a whole number as text; "" if there is none (then recorded)."""
    if key not in entry:
        problems.add_code(entry.line, key, "prompt_key_missing", what=what, key=key)
        return ""
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, str | int):
        problems.add_code(entry.line, key, "prompt_key_unusable", key=key, what=what)
        return ""
    text = normalise_text(str(value))
    if not text:
        problems.add_code(entry.line, key, "prompt_key_empty", key=key, what=what)
    return text


def _format_fact(value: Any) -> str:
    """Return a text or number as text; "" for other values."""
    return normalise_text(str(value)) if isinstance(value, str | int) else ""


def _count_repeated_wordings(item: PromptItem) -> int:
    """Return how many wordings of an item repeat another one in the same language."""
    return len(item.variants) - len(
        {(variant.language, normalise_text(variant.prompt)) for variant in item.variants}
    )
