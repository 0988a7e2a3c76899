"""Show a run's progress model by model, for run types that send requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.summary import ENDS
from evaluation.runs.run_types.kind import Page
from evaluation.runs.steps.asking.progress import ModelProgress, read_progress_by_model


@dataclass(frozen=True)
class ModelRequests:
    """One model's progress in a run; its cost is known only if `has_prices`."""

    at: ModelProgress
    has_prices: bool

    @property
    def end(self) -> str:
        """The reason why the model's requests ended, in words; "" while they continue."""
        return ENDS.get(self.at.end, self.at.end)


def build_progress(run: Run) -> Mapping[str, Any]:
    """Return a template context of each model's progress and the cost; empty when finished."""
    if run.state == Run.State.DONE:
        return {}
    models = read_progress_by_model(run)
    known = list_priced(one.id for one in models)
    shown = [ModelRequests(one, one.id in known) for one in models]
    costs = [one.at.cost for one in shown]
    return {"going": shown, "spent": sum(costs) if len(known) == len(models) else None}


def list_priced(ids: Iterable[str]) -> set[str]:
    """Return the ids of those models whose token prices are known."""
    rows = LanguageModel.objects.filter(public_id__in=list(ids), price_in__isnull=False)
    return {str(public_id) for public_id in rows.values_list("public_id", flat=True)}


STANDING = Page("standing", "Model by model", "evaluation/ask/standing.html", build_progress)
