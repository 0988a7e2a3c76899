"""What one row of a file says."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class AnswerStatus(StrEnum):
    """What came instead of, or with, a model's answer; in files in any case.

    CUT_OFF: the length of the reply was used up, or the model only thought, before an answer came.
    """

    TEXT = "text"
    EMPTY = "empty"
    REFUSED = "refused"
    REFUSED_PROMPT = "refused_prompt"
    REFUSED_GENERATION = "refused_generation"
    ERROR = "error"
    CUT_OFF = "cut_off"

    @property
    def is_missing(self) -> bool:
        """Whether no answer came that could be scored: ERROR and CUT_OFF."""
        return self in (AnswerStatus.ERROR, AnswerStatus.CUT_OFF)

    @property
    def is_refusal(self) -> bool:
        """Whether the model or a content filter refused."""
        return self.value.startswith("refused")


MISSING = tuple(status.value for status in AnswerStatus if status.is_missing)
"""Statuses, as they are written, that keep a model out of rankings."""


class Signals(NamedTuple):
    """How an answer came about: counted, with the numbers of `COUNTERS`, or off without any."""

    said: str
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """What some files know of an answer beside its text: our exports, and results of panels.

    `rejected` answers were refused where they were collected; None where nobody said. Times have
    a zone, or are None where nobody took them; `work_seconds` is the time on task as it was counted
    there. The `session_` fields are of the worker's whole way through the questions;
    `session_state` is "" where nobody said. `signals` is None where nobody counted. `extra` is
    further cells by their names. `language` is that of the question as it was read, "" where
    nobody said.
    """

    panel: str = ""
    rejected: bool | None = False
    started_at: datetime | None = None
    submitted_at: datetime | None = None
    work_seconds: float | None = None
    session_state: str = ""
    session_started_at: datetime | None = None
    session_last_seen_at: datetime | None = None
    session_submitted_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    first_draft_at: datetime | None = None
    signals: Signals | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """A worker's answer to a question.

    `row` counts the data rows of the file from 0, repeated ones too, so that vectors made
    elsewhere line up; `line` is where the row begins in the file, from 1. `worker` and `question`
    are trimmed and in NFC, `text` is as written, and "" where the worker did not answer (nothing
    or only white space). `extra` holds the cells kept aside, in the order of the file's
    `kept_aside`; cells past its end are empty. `facts` is None in an ordinary file.
    """

    row: int
    line: int
    worker: str
    question: str
    text: str
    extra: tuple[str, ...] = ()
    facts: AnswerFacts | None = None

    @property
    def is_rejected(self) -> bool:
        """Whether it was refused where it was collected."""
        return self.facts is not None and bool(self.facts.rejected)


@dataclass(frozen=True, slots=True)
class ModelAsking:
    """How a model was asked, in our own export; see `evaluation.models.LLMResponse`."""

    sample: int = 0
    finish_reason: str = ""
    prompt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelAnswerRecord:
    """A model's answer to a question; fields as in `AnswerRecord`.

    `text` is never empty where `status` is TEXT, always where it is EMPTY, and may be either with
    the others. `thinking` is what was put aside of the reply (`exchange.thinking`).
    """

    row: int
    line: int
    model: str
    question: str
    text: str
    status: AnswerStatus
    extra: tuple[str, ...] = ()
    asking: ModelAsking | None = None
    thinking: str = ""
