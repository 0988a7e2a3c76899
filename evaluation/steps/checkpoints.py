"""One worker's turn at a run: what it may write, how long it may go on, how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.db.models import Case, DateTimeField, F, Value, When
from django.db.models.functions import Now

from evaluation.flow.stored import RunSummary
from evaluation.models import Run, RunData
from evaluation.models.runs_of_record import take_first
from evaluation.words.message import SENTENCE, Message

# Progress that is younger than this is not written again.
SECONDS_BETWEEN_REPORTS = 1.0
LONG = ("summary", "reasons", "warnings", "signature", "parameters", "notes")


class Lane(StrEnum):
    """What the next step of a run needs: a processor, or the reply of a server.

    A background process computes for one run at a time, and waits for servers beside that, for
    several runs at once.
    """

    COMPUTING = "computing"
    ASKING = "asking"


LANE = "lane"
"""Name of the `RunData` that holds a run's lane, once it is another than that of its kind."""


class OtherLaneError(Exception):
    """The run goes on in another lane; what was committed stays."""

    def __init__(self, lane: Lane) -> None:
        super().__init__(lane)
        self.lane = lane


class OutOfTimeError(Exception):
    """The turn is over; what was committed stays, and the next turn goes on from there."""


class RunInputError(Exception):
    """The run cannot be computed from what it was given; `message` tells the requester why.

    `str()` is what the run stores: the message as text, or a sentence where there is no code.
    """

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code, values)
        self.message = Message(code, values)

    @classmethod
    def of_sentence(cls, sentence: str) -> RunInputError:
        """Return an error with a sentence of another module, such as that of a back-end."""
        return cls(SENTENCE, sentence=sentence)

    def __str__(self) -> str:
        if self.message.code == SENTENCE:
            return str(self.message.values[SENTENCE])
        return self.message.as_text()


@dataclass(frozen=True)
class Ending:
    """What a run stores of itself with its results.

    `signature` says how it was made, `input_hash` out of what; `reasons` why cells are empty.
    """

    signature: str
    input_hash: str
    summary: RunSummary
    warnings: Sequence[Any] = ()
    reasons: Sequence[dict[str, Any]] = ()


@dataclass
class Turn:
    """A claimed run, for some minutes.

    Attributes
    ----------
    run_id : the run.
    fenced : opens a transaction that goes on only if the claim still holds.
    check : raises if the claim is known to be lost.
    deadline : reading of `clock` after which no new part is begun.
    lane : what this turn is for; None where it is for everything.
    """

    run_id: int
    fenced: Callable[[], AbstractContextManager[None]]
    check: Callable[[], None]
    deadline: float
    clock: Callable[[], float] = time.monotonic
    lane: Lane | None = None
    _stage: str = field(default="", init=False)
    _reported: float = field(default=float("-inf"), init=False)

    def between_parts(self) -> None:
        """Stop here if the claim is lost or the time is up; call it where a checkpoint stands."""
        self.check()
        if self.is_over():
            raise OutOfTimeError(self.run_id)

    def is_over(self) -> bool:
        """Return whether the time is up."""
        return self.clock() >= self.deadline

    def go_on_in(self, lane: Lane) -> None:
        """Go on if the turn may do what that lane is for; else raise `OtherLaneError`.

        Call it where a checkpoint stands: the next turn begins from there, in that lane.
        """
        if self.lane not in (None, lane):
            raise OtherLaneError(lane)

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell how far the run is; also stops if the claim is lost. Written at most once a second.

        Inside `fenced` the row is ours already; outside, a lost claim changes nothing that
        matters, because only progress is written.
        """
        self.check()
        now = self.clock()
        new_stage = stage != self._stage
        if not new_stage and done < total and now - self._reported < SECONDS_BETWEEN_REPORTS:
            return
        self._stage, self._reported = stage, now
        Run.objects.filter(pk=self.run_id, state=Run.State.RUNNING).update(
            # A stage that an earlier turn began keeps its start, or its rate would look too high.
            stage_started_at=Case(
                When(stage=stage, then=F("stage_started_at")),
                default=Now(),
                output_field=DateTimeField(),
            ),
            stage=Value(stage),
            done=min(done, total),
            total=total,
        )

    def keep(self, name: str, data: Any) -> None:
        """Put JSON aside by its name, for the next turn or for the pages; call it in `fenced`."""
        RunData.objects.update_or_create(run_id=self.run_id, name=name, defaults={"data": data})

    def kept(self, name: str) -> Any:
        """Return what was put aside by that name; None if nothing was."""
        found = RunData.objects.filter(run_id=self.run_id, name=name).values_list("data", flat=True)
        return found.first()

    def end(self, ending: Ending) -> None:
        """Store that the run is done; call it inside `fenced`, with what it wrote.

        The first of its kind that is done counts for its set.
        """
        Run.objects.filter(pk=self.run_id).update(
            state=Run.State.DONE,
            finished_at=Now(),
            lease_until=None,
            lease_owner="",
            error="",
            signature=ending.signature,
            input_hash=ending.input_hash,
            summary=ending.summary.as_dict(),
            warnings=list(ending.warnings),
            reasons=list(ending.reasons),
        )
        take_first(Run.objects.select_related("version").defer(*LONG).get(pk=self.run_id))
