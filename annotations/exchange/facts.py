"""Read and write the extra columns of this application's exports, such as times and panel.

They are read only in a file with the column that marks it as such an export (`header.MARKS`); in
any other file a column of the same name is a further column.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from annotations.exchange.header import OF_ANSWERS, OF_MODEL_ANSWERS, Column
from annotations.exchange.records import AnswerFacts, ModelRequest, Signals

FACTS = (
    *("panel", "status", "rejected", "started_at", "submitted_at", "work_seconds"),
    *("session_state", "session_started_at", "session_last_seen_at", "session_submitted_at"),
    "extra",
)
"""Columns of an answer beside worker, question and answer, in the order of the export."""

OF_RUN = (
    *("run_id", "run_score", "run_score_leave_one_out"),
    *("run_worker_grade", "run_worker_grade_low", "run_worker_grade_high"),
    *("run_worker_raw", "run_worker_raw_low", "run_worker_raw_high", "run_worker_leave_one_out"),
    *("run_worker_weight", "run_worker_n_answers", "run_worker_support", "run_worker_rank"),
)
CONTRAST_OF_RUN = ("run_contrast", "run_worker_contrast")
"""Columns that a run computed, the second ones at the end: an import ignores them."""

COUNTERS = (
    *("paste_count", "pasted_characters", "keystrokes", "typed_characters", "deleted_characters"),
    *("blur_count", "away_seconds", "active_seconds"),
)
COUNTED, OFF = "counted", "off"

SIGNALS = ("first_draft_at", "signals", *COUNTERS)
"""Columns at the end of the export: the first draft, and how the answer came about."""

READ_IN = ("language",)
"""Columns after those: in which language the question was read, as in BCP 47."""

ASKING = ("sample", "finish_reason", "prompt", "parameters", "extra")
"""Columns of a model's answer beside model, question, answer and status."""

OF_MODEL_RUN = ("run_id", "run_score", "run_reason")

STATES = ("open", "submitted", "returned", "timed_out", "screened_out")
STATUSES = ("text", "empty")
YES = ("true", "yes", "1")
NO = ("false", "no", "0", "")
MOST_SAMPLES = 2**31 - 1
LONGEST_LANGUAGE = 35
"""Characters that the name of a language may have."""
LONGEST_PANEL = 100
"""Characters that the name of a panel may have."""


class FaultRecorder(Protocol):
    """Protocol of a callback that records a bad cell: its column, a problem code and values."""

    def __call__(self, column: str, code: str, /, **values: Any) -> None:
        """Record a bad cell of the column `column` under the problem code `code`."""


def list_optional_answer_columns() -> tuple[Column, ...]:
    """Return the optional columns of Crowdgrade's own export of answers, in its order.

    The columns of a run are included so that they are not further columns.
    """
    return tuple(
        Column(name, (name,), required=False, mark=OF_ANSWERS)
        for name in (*FACTS, *SIGNALS, *READ_IN, *OF_RUN, *CONTRAST_OF_RUN)
    )


def list_optional_model_answer_columns() -> tuple[Column, ...]:
    """Return the optional columns of Crowdgrade's own export of model answers, in its order."""
    return tuple(
        Column(name, (name,), required=False, mark=OF_MODEL_ANSWERS)
        for name in (*ASKING, *OF_MODEL_RUN)
    )


def read_answer_facts(cells: Sequence[str], text: str, note: FaultRecorder) -> AnswerFacts:
    """Parse the optional cells of an answer: times, status, rejection, session and so on.

    Faults are passed to `note`. `text` is the answer, with which the status must agree.
    """
    panel, status, rejected, started, submitted, seconds, state, *rest = cells[: len(FACTS)]
    first_draft, signals, *counts, language = cells[len(FACTS) :]
    language = language.strip()
    if len(language) > LONGEST_LANGUAGE:
        note("language", "longer_than", size=len(language), most=LONGEST_LANGUAGE)
    status = status.strip().casefold()
    if status and status not in STATUSES:
        note("status", "fact_status_unknown", status=status[:40], known=" or ".join(STATUSES))
    elif status == "empty" and text:
        note("status", "fact_empty_answered")
    elif status == "text" and not text:
        note("status", "fact_text_unanswered")
    state = state.strip().casefold()
    if state and state not in STATES:
        note("session_state", "session_state_unknown", state=state[:40], known=", ".join(STATES))
    session_started, session_seen, session_submitted = (
        read_time(name, cell, note) for name, cell in zip(FACTS[7:10], rest[:3], strict=True)
    )
    if session_started and session_submitted and session_submitted < session_started:
        note("session_submitted_at", "session_times_reversed")
    if len(panel.strip()) > LONGEST_PANEL:
        note("panel", "panel_too_long", size=len(panel.strip()), most=LONGEST_PANEL)
    return AnswerFacts(
        panel=panel.strip(),
        rejected=read_flag("rejected", rejected, note),
        started_at=read_time("started_at", started, note),
        submitted_at=read_time("submitted_at", submitted, note),
        work_seconds=read_seconds("work_seconds", seconds, note),
        session_state=state,
        session_started_at=session_started,
        session_last_seen_at=session_seen,
        session_submitted_at=session_submitted,
        extra=read_json_object("extra", rest[3], note),
        first_draft_at=read_time("first_draft_at", first_draft, note),
        signals=read_typing_signals(signals, counts, note),
        language=language,
    )


def read_typing_signals(cell: str, counts: Sequence[str], note: FaultRecorder) -> Signals | None:
    """Parse the cells of typing signals: the state with its counts; None if the state is empty."""
    state = cell.strip().casefold()
    numbers = [
        read_whole_number(name, number, note) for name, number in zip(COUNTERS, counts, strict=True)
    ]
    if state not in ("", COUNTED, OFF):
        note("signals", "signals_unknown", cell=state[:40], counted=COUNTED, off=OFF)
    elif state == COUNTED:
        missing = [
            name for name, number in zip(COUNTERS, counts, strict=True) if not number.strip()
        ]
        if missing:
            note("signals", "signals_without_counts", missing=", ".join(missing))
        # Empty counts are noted above, so 0 is never stored for them.
        return Signals(state, tuple(number or 0 for number in numbers))
    elif any(number is not None for number in numbers):
        note("signals", "counts_without_signals")
    return Signals(state) if state else None


def read_model_request(cells: Sequence[str], note: FaultRecorder) -> ModelRequest:
    """Parse the request that a model answered (sample, prompt ...); bad cells go to `note`."""
    sample, finish_reason, prompt, parameters, extra = cells
    sample = sample.strip() or "0"
    # Ten digits hold the largest sample; a longer text would only cost time to convert.
    number = int(sample) if sample.isdecimal() and len(sample) <= 10 else -1
    if not 0 <= number <= MOST_SAMPLES:
        note("sample", "sample_unreadable", cell=sample[:40])
    return ModelRequest(
        sample=number,
        finish_reason=finish_reason[:100],
        prompt=prompt,
        parameters=read_json_object("parameters", parameters, note),
        extra=read_json_object("extra", extra, note),
    )


def read_time(name: str, cell: str, note: FaultRecorder) -> datetime | None:
    """Parse an ISO 8601 time to UTC; None if the cell is empty, or bad (then `note` is called)."""
    if not (cell := cell.strip()):
        return None
    try:
        value = datetime.fromisoformat(cell)
        # A time without a zone is refused: an export of ours always has one.
        if value.tzinfo is not None:
            return value.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    note(name, "time_unreadable", cell=cell[:40])
    return None


def read_seconds(name: str, cell: str, note: FaultRecorder) -> float | None:
    """Parse a duration in seconds, 0 or more; None if empty, or bad (then `note` is called)."""
    if not (cell := cell.strip()):
        return None
    try:
        # Python also takes 1_000 and the digits of other scripts, which no program writes.
        value = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        value = math.nan
    # NaN fails this comparison, too.
    if not 0 <= value < math.inf:
        note(name, "seconds_unreadable", cell=cell[:40])
        return None
    return value


def read_whole_number(name: str, cell: str, note: FaultRecorder) -> int | None:
    """Parse a whole number, 0 or more; None if empty, or bad (then `note` is called)."""
    if not (cell := cell.strip()):
        return None
    if cell.isascii() and cell.isdecimal() and int(cell[:12]) <= MOST_SAMPLES:
        return int(cell[:12])
    note(name, "number_unreadable", cell=cell[:40], most=MOST_SAMPLES)
    return None


def read_flag(name: str, cell: str, note: FaultRecorder) -> bool:
    """Return whether a cell is true, yes or 1; False for other cells (bad ones go to `note`)."""
    word = cell.strip().casefold()
    if word not in YES + NO:
        note(name, "not_boolean", cell=word[:40])
    return word in YES


def read_json_object(name: str, cell: str, note: FaultRecorder) -> dict[str, Any]:
    """Parse a cell's JSON object; {} if the cell is empty, or bad (then `note` is called)."""
    if not cell.strip():
        return {}
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        note(name, "no_json_object")
        return {}
    return value


def format_time(value: datetime | None) -> str | None:
    """Return a time as ISO 8601 text in UTC; None if there is no time."""
    return None if value is None else value.astimezone(UTC).isoformat()


def format_json_object(value: dict[str, Any]) -> str | None:
    """Return a dict as JSON text with sorted keys; None if it is empty."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else None


def format_seconds(value: float | None) -> float | int | None:
    """Return seconds as a cell value: an int if they are whole, so that no ".0" is written."""
    return int(value) if value is not None and value.is_integer() else value
