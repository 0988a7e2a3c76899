"""Prompts that ask for the same in other words: the form of the ELOQUENT robustness task.

A file is {"eloquent-robustness-test": {"source", "year", "items": [{"id", "variation",
"variants": [{"language", "prompt"}]}]}}. The organisers' own file of 2024 lacks two commas.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, cleaned
from annotations.exchange.reading.json_document import Located, MissingComma, read_json
from annotations.exchange.reading.source import Readable

TOP = "eloquent-robustness-test"


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """One wording of an item. `place` counts the item's variants from 0, in all its languages."""

    place: int
    language: str
    prompt: str
    line: int


@dataclass(frozen=True, slots=True)
class PromptItem:
    """What is asked in several wordings; `variation` says in what they differ."""

    id: str
    variation: str
    variants: tuple[PromptVariant, ...]
    line: int

    @property
    def languages(self) -> tuple[str, ...]:
        """Its languages, in the order in which they come first."""
        return tuple(dict.fromkeys(variant.language for variant in self.variants))

    def variants_in(self, language: str) -> tuple[PromptVariant, ...]:
        """Its wordings in one language."""
        return tuple(one for one in self.variants if one.language == language)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A file of prompts.

    Attributes
    ----------
    source, year : as the file says, as text; "" where it does not.
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
        """How many prompts there are."""
        return sum(len(item.variants) for item in self.items)

    @property
    def languages(self) -> dict[str, int]:
        """The languages, in the order in which they come first, with the number of prompts."""
        return dict(Counter(one.language for item in self.items for one in item.variants))

    @property
    def variations(self) -> dict[str, int]:
        """The kinds of variation, in the order in which they come first, with items."""
        return dict(Counter(item.variation for item in self.items))


def read_prompts(given: Readable, *, repair: bool = False) -> PromptFile:
    """Read a file of prompts; with `repair` missing commas are added and told.

    Ids and kinds of variation are trimmed and in NFC, ids that are numbers as they are written;
    languages also in small letters. Prompts stay as written. Further keys are left aside.

    Raises
    ------
    InputError
        It is no JSON, or not of the layout; every item and variant with a missing, empty or
        wrong field, and every id that stands there twice, is told with its line.
    """
    document = read_json(given, repair=repair, has_repair=True)
    problems = Problems(document.name)
    test = _test_of(document.name, document.value)
    listed = test.get("items")
    if not isinstance(listed, list) or not listed:
        raise InputError.from_code(document.name, "no_items", line=test.line)
    items: list[PromptItem] = []
    seen: dict[str, int] = {}
    for number, one in enumerate(listed, 1):
        item = _item(problems, one, f"item {number} of the list", test.line)
        if item is None:
            continue
        first = seen.setdefault(item.id, item.line)
        if len(seen) == len(items):
            problems.add_code(item.line, "id", "item_twice", item=item.id, first_line=first)
            continue
        items.append(item)
    problems.raise_if_any()
    return PromptFile(
        document.name,
        document.sha256,
        _fact(test.get("source")),
        _fact(test.get("year")),
        tuple(items),
        document.repairs,
        document.text,
        sum(_repeated(item) for item in items),
        document.warnings,
    )


def _test_of(name: str, value: Any) -> Located:
    test = value.get(TOP) if isinstance(value, Located) else None
    if isinstance(test, Located):
        return test
    found = ", ".join(list(value)[:5]) if isinstance(value, Located) else "no object"
    raise InputError.from_code(name, "no_top_object", top=TOP, found=found or "nothing")


def _item(problems: Problems, one: Any, what: str, line: int) -> PromptItem | None:
    if not isinstance(one, Located):
        problems.add_code(line, None, "entry_no_object", what=what)
        return None
    before = problems.total
    name = _text(problems, one, "id", what)
    if name:
        what = f"item {name}"
    variation = _text(problems, one, "variation", what)
    variants = one.get("variants")
    if not isinstance(variants, list) or not variants:
        problems.add_code(one.line, "variants", "no_variants", what=what)
        variants = []
    found = [
        _variant(problems, place, variant, what, one.line) for place, variant in enumerate(variants)
    ]
    if problems.total > before:
        return None
    return PromptItem(name, variation, tuple(v for v in found if v is not None), one.line)


def _variant(
    problems: Problems, place: int, one: Any, what: str, line: int
) -> PromptVariant | None:
    what = f"variant {place + 1} of {what}"
    if not isinstance(one, Located):
        problems.add_code(line, None, "variant_no_object", what=what)
        return None
    language = _text(problems, one, "language", what).lower()
    if not _text(problems, one, "prompt", what):
        return None
    prompt = str(one["prompt"])
    if len(prompt.encode()) > LONGEST_ANSWER:
        problems.add_code(one.line, "prompt", "prompt_too_long", what=what, most=LONGEST_ANSWER)
        return None
    return PromptVariant(place, language, prompt, one.line) if language else None


def _text(problems: Problems, one: Located, key: str, what: str) -> str:
    """Return a text, or a whole number as it is written; "" with a problem where there is none."""
    if key not in one:
        problems.add_code(one.line, key, "prompt_key_missing", what=what, key=key)
        return ""
    value = one[key]
    if isinstance(value, bool) or not isinstance(value, str | int):
        problems.add_code(one.line, key, "prompt_key_unusable", key=key, what=what)
        return ""
    text = cleaned(str(value))
    if not text:
        problems.add_code(one.line, key, "prompt_key_empty", key=key, what=what)
    return text


def _fact(value: Any) -> str:
    return cleaned(str(value)) if isinstance(value, str | int) else ""


def _repeated(item: PromptItem) -> int:
    return len(item.variants) - len({(one.language, cleaned(one.prompt)) for one in item.variants})
