"""Load the experts' judgements of a run's items."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluation.models import HumanJudgement, Run
from evaluation.runs.judging.declaration import Judging, Key

# As files name people who judge.
HUMAN = "human"


@dataclass(frozen=True)
class ExpertJudgement:
    """An expert's judgement of one item; `value` is a grade, or the code of a label."""

    key: Key
    expert: str
    value: float | str
    updated_at: datetime

    @property
    def judge(self) -> str:
        """Name of the expert among human and automatic judges, such as "human:rana"."""
        return f"{HUMAN}:{self.expert}"


def load_judgements(run: Run, judging: Judging) -> list[ExpertJudgement]:
    """Return the experts' judgements of a run, by the item's position and by expert."""
    rows = (
        HumanJudgement.objects.filter(exhibit__run=run, exhibit__judging=judging.name)
        .order_by("exhibit__place", "expert__username")
        .values_list("exhibit__key", "expert__username", "grade", "label", "updated_at")
    )
    return [
        ExpertJudgement(tuple(key), expert, label if grade is None else grade, at)
        for key, expert, grade, label, at in rows
    ]
