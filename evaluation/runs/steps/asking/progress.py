"""Store the progress of each model of a run that asks, for the run's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.models import Run, RunData
from evaluation.runs.flow.stored import Stored
from evaluation.runs.steps.checkpoints import Turn

NAME = "models"
"""Under which it is put aside (`evaluation.models.RunData`)."""


@dataclass(frozen=True)
class ModelProgress(Stored):
    """Progress of one model of a run that asks: replies, errors, cost, and its end.

    Attributes
    ----------
    id : public id of the model.
    done, total : replies that are there, stored ones too, and that there should be.
    asked : requests of this run that got a reply or an error; of them `errors`.
    cost : of this run. seconds : while it was asked.
    end : how it ended (`evaluation.runs.flow.asking.summary.ENDS`); "" while it goes on. `reason`
        says why it is not done.
    """

    id: str
    name: str
    done: int = 0
    total: int = 0
    asked: int = 0
    errors: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    end: str = ""
    reason: str = ""

    @property
    def percent(self) -> int | None:
        """Percentage of planned replies that have arrived; None without planned replies."""
        return int(100 * self.done / self.total) if self.total else None

    @property
    def rate(self) -> float | None:
        """Replies per second; None before the first reply."""
        return self.asked / self.seconds if self.asked and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds at this rate; None if ended or the rate is unknown."""
        if self.end or self.rate is None:
            return None
        return (self.total - self.done) / self.rate


def read_progress(run_id: int) -> list[ModelProgress]:
    """Return the stored progress of a run's models; empty before the first report."""
    rows = RunData.objects.filter(run_id=run_id, name=NAME).values_list("data", flat=True)
    return [ModelProgress.of(one) for one in rows.first() or ()]


def keep_progress(turn: Turn, models: Sequence[ModelProgress]) -> None:
    """Store the progress of the run's models; call it inside `Turn.fenced`."""
    turn.keep(NAME, [one.as_dict() for one in models])


def read_progress_by_model(run: Run) -> list[ModelProgress]:
    """Return the progress of each model of a run, in the order of its options."""
    return read_progress(run.pk)
