"""Lists of runs, and a run's progress model by model.

Build lists of runs: each run with its title, and whether it is its set's official run. Show a run's
progress model by model, for run types that send requests. The registry is another module, because
Python programs use it without Django's models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.models import LanguageModel, Run, RunOfRecord
from evaluation.runs.flow.asking.summary import ENDS
from evaluation.runs.reports.about import RunTitle, build_run_titles
from evaluation.runs.run_types.kind import Page
from evaluation.runs.run_types.registry import get_options_class
from evaluation.runs.steps.asking.conversation import ModelProgress, read_progress_of_run


@dataclass(frozen=True)
class ListedRun:
    """A run with its title, and whether it is the official run of its question set."""

    run: Run
    called: RunTitle
    is_of_record: bool


def list_runs(runs: Iterable[Run]) -> list[ListedRun]:
    """Return runs with their titles and whether each is official, by at most two queries.

    Rows from `annotate_runs_for_list` hold `is_of_record`, which saves a query.
    """
    rows = list(runs)
    of_record = _find_official_keys([run for run in rows if run.archived_at is None])
    names = build_run_titles([(run, get_options_class(run)) for run in rows])
    return [
        ListedRun(run, name, run.pk in of_record) for run, name in zip(rows, names, strict=True)
    ]


def _find_official_keys(runs: list[Run]) -> set[int]:
    """Return the primary keys of those runs that are official for their question set."""
    # Rows of `annotate_runs_for_list` are annotated with it; other rows need a query.
    if all(hasattr(run, "is_of_record") for run in runs):
        return {run.pk for run in runs if getattr(run, "is_of_record", False)}
    records = RunOfRecord.objects.filter(run__in=[run.pk for run in runs])
    return set(records.values_list("run_id", flat=True))


@dataclass(frozen=True)
class ModelRequests:
    """One model's progress in a run; its cost is known only if `has_prices`."""

    at: ModelProgress
    has_prices: bool

    @property
    def end(self) -> str:
        """The reason why the model's requests ended, in words; "" while they continue."""
        return ENDS.get(self.at.end, self.at.end)


def build_model_progress_context(run: Run) -> Mapping[str, Any]:
    """Return the template context with each model's progress and cost; {} for a finished run."""
    if run.state == Run.State.DONE:
        return {}
    models = read_progress_of_run(run)
    known = list_priced_model_ids(model.id for model in models)
    rows = [ModelRequests(model, model.id in known) for model in models]
    costs = [model.at.cost for model in rows]
    return {"going": rows, "spent": sum(costs) if len(known) == len(models) else None}


def list_priced_model_ids(ids: Iterable[str]) -> set[str]:
    """Return the ids of those of the models that have token prices."""
    rows = LanguageModel.objects.filter(public_id__in=list(ids), price_in__isnull=False)
    return {str(public_id) for public_id in rows.values_list("public_id", flat=True)}


STANDING = Page(
    "standing", "Model by model", "evaluation/ask/standing.html", build_model_progress_context
)
