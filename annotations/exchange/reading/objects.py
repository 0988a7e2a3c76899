"""JSON Lines whose objects hold lists and objects of their own, so that they are no table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.decoding import TextFile, open_text
from annotations.exchange.reading.json_document import Located, read_json
from annotations.exchange.reading.source import Source
from annotations.exchange.records import AnswerStatus

ENDINGS = (".jsonl", ".ndjson")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class _TwiceError(ValueError):
    """A key stands twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in keys if keys.count(key) > 1))
    return value


# Numbers that are no JSON (NaN, Infinity) are read: who uses them says what they mean.
_DECODER = json.JSONDecoder(object_pairs_hook=_object)


@dataclass(frozen=True, slots=True)
class Listed:
    """What a file lists: each value with its line, 0 where it is not known."""

    values: list[tuple[int, Any]]
    sha256: str
    warnings: tuple[str, ...]


def read_listed(source: Source, problems: Problems, code: str, /, **values: str) -> Listed:
    """Read JSON Lines, by its ending, or else one JSON list.

    What is no list, or an empty one, is noted in `problems` by the code and its values.
    """
    if source.suffix in ENDINGS:
        text = open_text(source)
        return Listed(list(read_objects(text, problems)), text.sha256, text.warnings)
    document = read_json(source)
    value = document.value
    if not isinstance(value, list) or not value:
        problems.add_code(None, None, code, **values)
        value = []
    listed = [(one.line if isinstance(one, Located) else 0, one) for one in value]
    return Listed(listed, document.sha256, document.warnings)


def read_objects(text: TextFile, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""Yield each object of a JSON Lines file with its line, from 1; blank lines are skipped.

    Values are Python's own: numbers as numbers, NaN and Infinity too. Lines that are no object, or
    hold a key twice or what is no text, are noted in `problems` and left out, and so is a file
    without any object.
    """
    found = False
    for number, line in enumerate(text.lines("\n"), 1):
        if line.isspace():
            continue
        found = True
        try:
            value = _DECODER.decode(line)
        except json.JSONDecodeError as error:
            problems.add_code(number, error.colno, "object_line_invalid", error=error.msg)
        except _TwiceError as error:
            problems.add_code(number, None, "object_key_twice", key=str(error))
        except (RecursionError, ValueError):
            problems.add_code(number, None, "object_too_deep")
        else:
            if not isinstance(value, dict):
                problems.add_code(number, None, "object_missing")
            elif _ESCAPE.search(line) and _UNWRITABLE.search(json.dumps(value, ensure_ascii=False)):
                problems.add_code(number, None, "object_unwritable")
            else:
                yield number, value
    if not found:
        problems.add_code(None, None, "no_rows_complete")


def id_of(value: Any) -> str | None:
    """Return an id as ids are kept: text, trimmed, in NFC; a number as it is written.

    "" for what is not there, None for what is no id.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_id(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def status_of(
    value: Any, text: str, line: int, problems: Problems, others: bool = False
) -> AnswerStatus | None:
    """Return the status that a reply has in effect; None, with a note, if it cannot be.

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
    given = bool(text) or others
    if status is AnswerStatus.EMPTY and given:
        problems.add_code(line, "status", "status_empty_replied")
        return None
    return AnswerStatus.EMPTY if status is AnswerStatus.TEXT and not given else status
