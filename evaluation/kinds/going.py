"""How a run that asks models stands, model by model: a part of its page, for kinds that ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.flow.asking.summary import ENDS
from evaluation.kinds.kind import Page
from evaluation.models import LanguageModel, Run
from evaluation.steps.asking.progress import ModelProgress, progress_by_model


@dataclass(frozen=True)
class Going:
    """A model that is being asked; `has_prices` says whether `at.cost` means anything."""

    at: ModelProgress
    has_prices: bool

    @property
    def end(self) -> str:
        """How it ended, in words; "" while it goes on."""
        return ENDS.get(self.at.end, self.at.end)


def going(run: Run) -> Mapping[str, Any]:
    """Return how far each model is, and what was spent; nothing once the run is done."""
    if run.state == Run.State.DONE:
        return {}
    models = progress_by_model(run)
    known = priced(one.id for one in models)
    shown = [Going(one, one.id in known) for one in models]
    costs = [one.at.cost for one in shown]
    return {"going": shown, "spent": sum(costs) if len(known) == len(models) else None}


def priced(ids: Iterable[str]) -> set[str]:
    """Return the ids of those whose prices are known."""
    rows = LanguageModel.objects.filter(public_id__in=list(ids), price_in__isnull=False)
    return {str(public_id) for public_id in rows.values_list("public_id", flat=True)}


STANDING = Page("standing", "Model by model", "evaluation/ask/standing.html", going)
