"""Records of the rows of files of workers' answers and of models' answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class AnswerStatus(StrEnum):
    """Status of a model's reply, such as text, refused or cut_off.

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
        """Whether there is no answer that could be scored: True for ERROR and CUT_OFF."""
        return self in (AnswerStatus.ERROR, AnswerStatus.CUT_OFF)

    @property
    def is_refusal(self) -> bool:
        """Whether the model or a content filter refused to answer."""
        return self.value.startswith("refused")


MISSING = tuple(status.value for status in AnswerStatus if status.is_missing)
"""Statuses, as they are written, that keep a model out of rankings."""


class Signals(NamedTuple):
    """Typing signals of an answer: the state "counted" with its counts, or "off"."""

    said: str
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """Facts of an answer besides its text, such as panel, rejection, times and signals.

    `rejected` answers were refused where they were collected; None where it is not known. Times
    have a zone, or are None where they are not known; `work_seconds` is the time on task as the
    panel counted it. The `session_` fields are of the worker's whole session; `session_state` is ""
    where it is not known. `signals` is None where they were not counted. `extra` is further cells
    by their names. `language` is that of the question as it was read, "" where it is not known.
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
    """One worker's answer to one question, as read from a row of a file.

    `row` counts the data rows of the file from 0, repeated ones too, so that vectors computed
    elsewhere line up; `line` is where the row begins in the file, from 1. `worker` and `question`
    are trimmed and in NFC, `text` is as written, and "" where the worker did not answer (nothing or
    only white space). `extra` holds the further cells, in the order of the file's `kept_aside`;
    cells past its end are empty. `facts` is None in an ordinary file.
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
        """Whether the answer was rejected on the platform where it was collected."""
        return self.facts is not None and bool(self.facts.rejected)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Request that a model answered: sample, prompt, parameters; read from an export."""

    sample: int = 0
    finish_reason: str = ""
    prompt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelAnswerRecord:
    """One model's answer to one question, as read from a row of a file.

    `text` is never empty where `status` is TEXT, always where it is EMPTY, and may be either with
    the others. `thinking` is what was removed from the reply (`exchange.thinking`).
    """

    row: int
    line: int
    model: str
    question: str
    text: str
    status: AnswerStatus
    extra: tuple[str, ...] = ()
    asking: ModelRequest | None = None
    thinking: str = ""
