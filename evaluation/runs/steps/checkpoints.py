"""Turns of background processes on a run, and result tables stored in parts.

Define turns: in a turn, one background process works on a run for some minutes.

Store the result tables of a study's run in parts, and read them back as typed rows.

    store_result_table(turn, METRICS, found.metrics)  in `turn.open_fenced_transaction()`
    for row in read_result_table(run, METRICS): ...      on pages, in tables, over REST

Rows are named tuples or dataclasses of plain values, also nested and with enums. They are kept in
parts, so that neither writing nor reading needs more than a part at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Case, DateTimeField, F, Q, Value, When
from django.db.models.functions import Now
from django.utils.module_loading import import_string
from pydantic import TypeAdapter

from evaluation.core.messages.message import SENTENCE, Message
from evaluation.models import DrawPart, Run, RunData, Webhook
from evaluation.models.runs import make_first_official
from evaluation.runs.flow.stored import ResultTable, RunSummary

# Progress that is younger than this is not written again.
SECONDS_BETWEEN_REPORTS = 1.0
# A feature, which imports this package.
RECORD_RUN_END = "evaluation.webhooks.storage.record_run_end"
LONG = ("summary", "reasons", "warnings", "signature", "parameters", "notes")


class Lane(StrEnum):
    """Resource that a run's next step waits for: this machine's processor, or a server's replies.

    A background process computes for one run at a time; meanwhile its second process waits for
    the servers of several runs.
    """

    COMPUTING = "computing"
    ASKING = "asking"


LANE = "lane"
"""Name of the `RunData` that holds a run's lane, once it is another than that of its kind."""


class OtherLaneError(Exception):
    """Raised when the run must continue in another lane (computing or asking)."""

    def __init__(self, lane: Lane) -> None:
        super().__init__(lane)
        self.lane = lane


class OutOfTimeError(Exception):
    """Raised when the turn's time is up; the next turn continues from the committed work."""


class RunInputError(Exception):
    """Error: the run cannot be computed from its input; `message` gives the reason.

    `str()` is the text that the run stores: the message as JSON, or a sentence without a code.
    """

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code, values)
        self.message = Message(code, values)

    @classmethod
    def from_sentence(cls, sentence: str) -> RunInputError:
        """Return an error whose message is a complete sentence, such as a back-end's error."""
        return cls(SENTENCE, sentence=sentence)

    def __str__(self) -> str:
        if self.message.code == SENTENCE:
            return str(self.message.values[SENTENCE])
        return self.message.as_text()


@dataclass(frozen=True)
class RunEnd:
    """Data that a finished run stores in addition to its results: signature, summary, warnings.

    `signature` names the options and versions, `input_hash` is the hash of the inputs; `reasons`
    state why cells are empty.
    """

    signature: str
    input_hash: str
    summary: RunSummary
    warnings: Sequence[Any] = ()
    reasons: Sequence[dict[str, Any]] = ()


@dataclass
class Turn:
    """A turn: some minutes in which one background process holds a claim on a run.

    Attributes
    ----------
    run_id : primary key of the run.
    open_fenced_transaction : opens a transaction, and raises `LeaseLostError` if the claim is lost.
    check : raises `LeaseLostError` if the claim is known to be lost.
    deadline : time by `clock` after which no new part is begun.
    lane : lane of this turn; None for a process that works on both lanes.
    """

    run_id: int
    open_fenced_transaction: Callable[[], AbstractContextManager[None]]
    check: Callable[[], None]
    deadline: float
    clock: Callable[[], float] = time.monotonic
    lane: Lane | None = None
    _stage: str = field(default="", init=False)
    _reported: float = field(default=float("-inf"), init=False)

    def check_interruption(self) -> None:
        """Raise `LeaseLostError` if the claim is lost, `OutOfTimeError` if the time is up."""
        self.check()
        if self.is_over():
            raise OutOfTimeError(self.run_id)

    def is_over(self) -> bool:
        """Return whether the turn's deadline has passed."""
        return self.clock() >= self.deadline

    def require_lane(self, lane: Lane) -> None:
        """Raise `OtherLaneError` unless this turn may do work of the lane (computing or asking).

        Call it at a checkpoint: the next turn continues from there, in that lane.
        """
        if self.lane not in (None, lane):
            raise OtherLaneError(lane)

    def report_progress(self, stage: str, done: int, total: int) -> None:
        """Store the run's progress, at most once a second; raise if the claim is lost.

        Inside a fenced transaction the run's row is locked already; outside,
        a lost claim does no harm, because only progress is written.
        """
        self.check()
        now = self.clock()
        new_stage = stage != self._stage
        if not new_stage and done < total and now - self._reported < SECONDS_BETWEEN_REPORTS:
            return
        self._stage, self._reported = stage, now
        # Filtered by state: a run that was cancelled or paused meanwhile must not show progress.
        Run.objects.filter(pk=self.run_id, state=Run.State.RUNNING).update(
            # A stage that an earlier turn began keeps its start, or its rate would look too high.
            stage_started_at=Case(
                When(stage=stage, then=F("stage_started_at")),
                default=Now(),
                output_field=DateTimeField(),
            ),
            stage=Value(stage),
            # The database refuses more than the total (`run_does_no_more_than_all`).
            done=min(done, total),
            total=total,
        )

    def store_json(self, name: str, data: Any) -> None:
        """Store JSON data with the run under a name; call it inside `open_fenced_transaction`."""
        RunData.objects.update_or_create(run_id=self.run_id, name=name, defaults={"data": data})

    def read_stored(self, name: str) -> Any:
        """Return the JSON that the run stores under a name; None without any."""
        rows = RunData.objects.filter(run_id=self.run_id, name=name).values_list("data", flat=True)
        return rows.first()

    def finish_run(self, ending: RunEnd) -> None:
        """Store the run as done with its summary; call it inside `open_fenced_transaction`.

        The first finished run of its type becomes the official run of its question set.
        """
        Run.objects.filter(pk=self.run_id).update(
            state=Run.State.DONE,
            finished_at=Now(),
            lease_until=None,
            lease_owner="",
            # An earlier attempt may have left its reason.
            error="",
            signature=ending.signature,
            input_hash=ending.input_hash,
            summary=ending.summary.as_dict(),
            warnings=list(ending.warnings),
            reasons=list(ending.reasons),
        )
        # In this transaction: a run that is done and no official run of its set must not be seen.
        make_first_official(Run.objects.select_related("version").defer(*LONG).get(pk=self.run_id))
        record_run_end(self.run_id)


@transaction.atomic
def store_failed_run(run_id: int, condition: Q, error: str, **changes: Any) -> bool:
    """Store a run as failed with the reason `error`; False if it does not match the filter."""
    failed = Run.objects.filter(condition, pk=run_id).update(
        state=Run.State.FAILED, error=error, finished_at=Now(), lease_until=None, **changes
    )
    if failed:
        DrawPart.objects.filter(run=run_id).delete()
        record_run_end(run_id)
    return bool(failed)


def record_run_end(run_id: int) -> None:
    """Record the events of a run that is done or failed; call it in the transaction of its end."""
    # Most installations have no webhook, and need not load the feature.
    if Webhook.objects.filter(off_at=None).exists():
        import_string(RECORD_RUN_END)(run_id)


PREFIX = "found:"
# Rows of a part: some hundred kilobytes where they hold replies.
ROWS = 1000
# A part's number has as many digits, so that names are in the order of writing.
DIGITS = 6

RowT = TypeVar("RowT")


def store_result_table(turn: Turn, table: ResultTable[RowT], rows: Iterable[RowT]) -> int:
    """Store the rows of a declared result table with the run; return the number of rows."""
    return store_table_rows(turn, table.name, table.row, rows)


def read_result_table(run: Run, table: ResultTable[RowT]) -> Iterator[RowT]:
    """Yield the rows of a declared table that are stored with the run."""
    return read_table_rows(run, table.name, table.row)


def read_result_tables(run: Run, tables: Iterable[ResultTable[Any]]) -> dict[str, list[Any]]:
    """Return the stored rows of several declared tables by name, in one query."""
    return read_rows_of_tables(run, {table.name: table.row for table in tables})


def store_table_rows(turn: Turn, table: str, row_type: type[RowT], rows: Iterable[RowT]) -> int:
    """Store a table's rows, replacing earlier ones; return the number of rows.

    Call it inside `Turn.open_fenced_transaction`. `table` has at most 30 characters.
    """
    # An earlier attempt may have stored more parts than this one writes.
    RunData.objects.filter(run_id=turn.run_id, name__startswith=_build_name_prefix(table)).delete()
    adapter, left, n = _get_row_adapter(row_type), iter(rows), 0
    # An empty table has one empty part: it is known to be empty.
    for place in range(10**DIGITS):
        part = list(islice(left, ROWS))
        if place and not part:
            break
        data = adapter.dump_python(part, mode="json")
        RunData.objects.create(run_id=turn.run_id, name=_build_part_name(table, place), data=data)
        n += len(part)
    return n


def read_table_rows(run: Run, table: str, row_type: type[RowT]) -> Iterator[RowT]:
    """Yield a table's stored rows in the order of writing; none if it was never stored."""
    adapter = _get_row_adapter(row_type)
    parts = RunData.objects.filter(run=run, name__startswith=_build_name_prefix(table)).order_by(
        "name"
    )
    # One part in memory at a time: each may have several hundred kilobytes.
    for data in parts.values_list("data", flat=True).iterator(chunk_size=1):
        yield from adapter.validate_python(data)


def read_rows_of_tables(run: Run, tables: Mapping[str, type[Any]]) -> dict[str, list[Any]]:
    """Return the stored rows of several tables by name, in one query."""
    named = Q()
    for table in tables:
        named |= Q(name__startswith=_build_name_prefix(table))
    rows: dict[str, list[Any]] = {table: [] for table in tables}
    parts = RunData.objects.filter(named, run=run).order_by("name")
    # One part in memory at a time, as for one table.
    for name, data in parts.values_list("name", "data").iterator(chunk_size=1):
        table = name.removeprefix(PREFIX).rpartition(":")[0]
        rows[table] += _get_row_adapter(tables[table]).validate_python(data)
    return rows


def _build_name_prefix(table: str) -> str:
    """Return the prefix of the names under which a table's parts are stored."""
    return f"{PREFIX}{table}:"


def _build_part_name(table: str, place: int) -> str:
    """Return the name under which one part of a table is stored."""
    return f"{_build_name_prefix(table)}{place:0{DIGITS}}"


def _get_row_adapter(row_type: Any) -> TypeAdapter[Any]:
    """Return the pydantic adapter of a list of rows of this type; cached."""
    return TypeAdapter(list[row_type])
