"""What one row of a file says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AnswerStatus(StrEnum):
    """What came instead of, or with, a model's answer; in files in any case."""

    TEXT = "text"
    EMPTY = "empty"
    REFUSED = "refused"
    REFUSED_PROMPT = "refused_prompt"
    REFUSED_GENERATION = "refused_generation"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """A worker's answer to a question.

    `row` counts the data rows of the file from 0, repeated ones too, so that vectors made
    elsewhere line up; `line` is where the row begins in the file, from 1. `worker` and `question`
    are trimmed and in NFC, `text` is as written, and "" where the worker did not answer (nothing
    or only white space). `extra` holds the cells kept aside, in the order of the file's
    `kept_aside`; cells past its end are empty.
    """

    row: int
    line: int
    worker: str
    question: str
    text: str
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelAnswerRecord:
    """A model's answer to a question; fields as in `AnswerRecord`.

    `text` is never empty where `status` is TEXT, always where it is EMPTY, and may be either with
    the others.
    """

    row: int
    line: int
    model: str
    question: str
    text: str
    status: AnswerStatus
    extra: tuple[str, ...] = ()
