"""Read the choices of a benchmark's record: objects with a text, or one text with letters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotations.exchange.presets.values import format_value
from evaluation.multiqa.items import LETTERS

# Keys of an option that is an object, the likelier ones first.
OPTION_TEXTS = ("value", "text", "option_text", "content", "option", "choice", "answer")
OPTION_LABELS = ("key", "label", "id", "letter", "option_id", "idx", "index")


class UnreadableOptionsError(ValueError):
    """Error: the answer choices are JSON objects without a known key for their text."""


def split_lettered_choices(text: str) -> tuple[list[str], list[str]] | None:
    """Return the choices in a text such as "a ) 38 , b ) 1,200", and their letters.

    A choice ends where a comma and the next letter follow, so it may hold commas itself. Brackets
    and quotation marks around the choices are dropped. None for a text without two such letters.
    """
    starts: list[re.Match[str]] = []
    for letter in LETTERS.lower():
        before = r"[\s,;'\"]*[,;][\s'\"]*" if starts else r"[\s\['\"]*"
        mark = re.compile(rf"{before}\(?{letter}\s*\)\s*", re.IGNORECASE)
        start = mark.search(text, starts[-1].end()) if starts else mark.match(text)
        if start is None:
            break
        starts.append(start)
    if len(starts) < 2:
        return None
    ends = [start.start() for start in starts[1:]] + [len(text)]
    texts = [text[start.end() : end] for start, end in zip(starts, ends, strict=True)]
    texts[-1] = texts[-1].rstrip(" ,;]'\"" if text.lstrip().startswith("[") else " ,;")
    return [each.strip() for each in texts], list(LETTERS.lower()[: len(texts)])


def read_option_objects(options: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return texts and labels of choices that are JSON objects such as {"key", "value"}.

    Raises `UnreadableOptionsError`.
    """
    text_key = next((key for key in OPTION_TEXTS if all(key in option for option in options)), None)
    if text_key is None:
        raise UnreadableOptionsError(", ".join(map(str, options[0])))
    label_keys = [key for key in OPTION_LABELS if all(key in option for option in options)]
    return (
        [format_value(option[text_key]) for option in options],
        [format_value(option[label_keys[0]]) for option in options] if label_keys else [],
    )
