"""How far each model of a run is, for its page while it works and afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.flow.stored import Stored
from evaluation.models import Run, RunData
from evaluation.steps.checkpoints import Turn

NAME = "models"
"""Under which it is put aside (`evaluation.models.RunData`)."""


@dataclass(frozen=True)
class ModelProgress(Stored):
    """One model of a run that asks.

    Attributes
    ----------
    id : public id of the model.
    done, total : replies that are there, stored ones too, and that there should be.
    asked : requests of this run that got a reply or an error; of them `errors`.
    cost : of this run. seconds : while it was asked.
    end : how it ended (`evaluation.flow.asking.summary.ENDS`); "" while it goes on. `reason` says
        why it is not done.
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
        """How much of it is there; None for nothing to do."""
        return int(100 * self.done / self.total) if self.total else None

    @property
    def rate(self) -> float | None:
        """Replies a second; None before the first one."""
        return self.asked / self.seconds if self.asked and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """At this rate; None where it has ended, or nobody can say."""
        if self.end or self.rate is None:
            return None
        return (self.total - self.done) / self.rate


def kept_progress(run_id: int) -> list[ModelProgress]:
    """Return what was put aside; nothing before the first report."""
    rows = RunData.objects.filter(run_id=run_id, name=NAME).values_list("data", flat=True)
    return [ModelProgress.of(one) for one in rows.first() or ()]


def keep_progress(turn: Turn, models: Sequence[ModelProgress]) -> None:
    """Put it aside; call it in `fenced`."""
    turn.keep(NAME, [one.as_dict() for one in models])


def progress_by_model(run: Run) -> list[ModelProgress]:
    """Return how far each model of a run is, in the order of its options."""
    return kept_progress(run.pk)
