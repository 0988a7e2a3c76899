"""Read JSON Lines files whose objects have nested lists and objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.decoding import TextFile, open_text
from annotations.exchange.reading.json_document import JsonObject, read_json
from annotations.exchange.reading.source import Source
from annotations.exchange.records import AnswerStatus

ENDINGS = (".jsonl", ".ndjson")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class _RepeatedKeyError(ValueError):
    """Internal error: a key occurs twice in one JSON object."""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict from (key, value) pairs; `_RepeatedKeyError` for a key that occurs twice."""
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return value


# NaN and Infinity are read, although JSON has no such numbers: log-probabilities need them.
_DECODER = json.JSONDecoder(object_pairs_hook=_build_object)


@dataclass(frozen=True, slots=True)
class ValueList:
    """The values that a JSON file lists, as (line, value); the line is 0 if unknown."""

    values: list[tuple[int, Any]]
    sha256: str
    warnings: tuple[str, ...]


def read_value_list(source: Source, problems: Problems, code: str, /, **values: str) -> ValueList:
    """Read the values of a JSON Lines file or, by the file's ending, of one JSON list.

    What is no list, or an empty one, is noted in `problems` by the code and its values.
    """
    if source.suffix in ENDINGS:
        text = open_text(source)
        return ValueList(list(read_json_objects(text, problems)), text.sha256, text.warnings)
    document = read_json(source)
    value = document.value
    if not isinstance(value, list) or not value:
        problems.add_code(None, None, code, **values)
        value = []
    listed = [
        (json_object.line if isinstance(json_object, JsonObject) else 0, json_object)
        for json_object in value
    ]
    return ValueList(listed, document.sha256, document.warnings)


def read_json_objects(text: TextFile, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of each line of a JSON Lines file; bad lines go to `problems`.

    Values are Python's own: numbers as numbers, NaN and Infinity too. Lines that are no object, or
    hold a key twice or what is no text, are noted in `problems` and left out, and so is a file
    without any object.
    """
    has_line = False
    for number, line in enumerate(text.iterate_lines("\n"), 1):
        if line.isspace():
            continue
        has_line = True
        try:
            value = _DECODER.decode(line)
        except json.JSONDecodeError as error:
            problems.add_code(number, error.colno, "object_line_invalid", error=error.msg)
        except _RepeatedKeyError as error:
            problems.add_code(number, None, "object_key_twice", key=str(error))
        # ValueError: a whole number of more than 4,300 digits, which Python refuses.
        except (RecursionError, ValueError):
            problems.add_code(number, None, "object_too_deep")
        else:
            if not isinstance(value, dict):
                problems.add_code(number, None, "object_missing")
            # Searched in the line first, which is cheap: only an escape can make such a character.
            elif _ESCAPE.search(line) and _UNWRITABLE.search(json.dumps(value, ensure_ascii=False)):
                problems.add_code(number, None, "object_unwritable")
            else:
                yield number, value
    if not has_line:
        problems.add_code(None, None, "no_rows_complete")


def normalise_id(value: Any) -> str | None:
    """Return an id (text or number) as text in NFC; "" for None, None for another value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_id(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    # pandas writes whole numbers as floats where some are missing: the id 7 is 7.0 then.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_reply_status(
    value: Any, text: str, line: int, problems: Problems, others: bool = False
) -> AnswerStatus | None:
    """Return a reply's status, EMPTY without content; None if it is bad (then recorded).

    Parameters
    ----------
    value : as in the file, in any case; None or "" for text.
    text : of the reply; without one it is EMPTY.
    others : whether the reply is given in another way than as text.
    """
    word = value.strip().casefold() if isinstance(value, str) else value
    try:
        status = AnswerStatus(word) if word else AnswerStatus.TEXT
    except ValueError:
        accepted = ", ".join(AnswerStatus)
        problems.add_code(
            line, "status", "status_unknown", status=str(word)[:40], accepted=accepted
        )
        return None
    has_content = bool(text) or others
    if status is AnswerStatus.EMPTY and has_content:
        problems.add_code(line, "status", "status_empty_replied")
        return None
    return AnswerStatus.EMPTY if status is AnswerStatus.TEXT and not has_content else status
