"""Find the run types of this installation by their names; list runs and their progress.

Build lists of runs: each run with its title, and whether it is its set's official run. Show a run's
progress model by model, for run types that send requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

from evaluation.core.options import Parameters
from evaluation.models import LanguageModel, Run, RunOfRecord
from evaluation.runs.flow.asking.summary import ENDS
from evaluation.runs.reports.about import RunTitle, build_titles
from evaluation.runs.run_types.kind import Kind, Page
from evaluation.runs.steps.asking.conversation import ModelProgress, read_progress_by_model

if TYPE_CHECKING:
    from evaluation.models import Run
    from evaluation.runs.judging import Judging
    from evaluation.runs.judging.tasks import JudgingKey


class UnknownKindError(LookupError):
    """The installation has no run type with this name; the message says why."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"This site has no run type {name!r}: it is of another version of the "
            "platform, or was taken out of its settings."
        )


def list_kinds() -> Mapping[str, Kind]:
    """Return all run types by name, in the order of the setting `RUN_KINDS`."""
    return _import_kinds(tuple(settings.RUN_KINDS))


def list_run_kinds() -> Mapping[str, Kind]:
    """Return the run types that have runs, by name; the others only work on files."""
    return {name: kind for name, kind in list_kinds().items() if kind.has_runs}


def list_asking_kinds() -> list[str]:
    """Return the names of the run types whose runs begin with model requests."""
    return [name for name, kind in list_run_kinds().items() if kind.asks]


def get_kind(name: str) -> Kind:
    """Return the run type with a name. Raises `UnknownKindError`."""
    try:
        return list_run_kinds()[name]
    except KeyError:
        raise UnknownKindError(name) from None


def get_run_kind(run: Run) -> Kind:
    """Return the run type of a stored run. Raises `UnknownKindError`."""
    return get_kind(run.kind)


def get_options(run: Run) -> type[Parameters]:
    """Return the options class of a run's type; `Parameters` for an unknown type."""
    try:
        return get_run_kind(run).options
    except UnknownKindError:
        return Parameters


def find_judging(declared: JudgingKey) -> Judging:
    """Return the declaration of experts' judgements with a key.

    Raises `UnknownKindError` if the run type is unknown, or has no such declaration (any more).
    """
    from evaluation.runs.judging import ANSWERS
    from evaluation.runs.judging.tasks import OF_ANSWERS

    if declared == OF_ANSWERS:
        return ANSWERS
    for judging in get_kind(declared.kind).judging:
        if judging.name == declared.name:
            return judging
    raise UnknownKindError(declared.kind)


@cache
def _import_kinds(paths: tuple[str, ...]) -> Mapping[str, Kind]:
    """Return the run types at these dotted paths, by run type name; cached."""
    # Cached by the paths and not once for all: another value of the setting has other run types.
    kinds: list[Kind] = [import_string(path) for path in paths]
    return {kind.name: kind for kind in kinds}


@dataclass(frozen=True)
class ListedRun:
    """A run with its title, and whether it is the official run of its question set."""

    run: Run
    called: RunTitle
    is_of_record: bool


def list_runs(runs: Iterable[Run]) -> list[ListedRun]:
    """Return the runs with titles and whether they are official, by at most two queries.

    Rows from `select_list_rows` hold `is_of_record`, which saves a query.
    """
    rows = list(runs)
    of_record = _find_official([run for run in rows if run.archived_at is None])
    names = build_titles([(run, get_options(run)) for run in rows])
    return [
        ListedRun(run, name, run.pk in of_record) for run, name in zip(rows, names, strict=True)
    ]


def _find_official(runs: list[Run]) -> set[int]:
    """Return the primary keys of those runs that are official for their question set."""
    # Rows of `select_list_rows` are annotated with it; other rows need a query.
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


def build_progress(run: Run) -> Mapping[str, Any]:
    """Return a template context of each model's progress and the cost; empty when finished."""
    if run.state == Run.State.DONE:
        return {}
    models = read_progress_by_model(run)
    known = list_priced(model.id for model in models)
    rows = [ModelRequests(model, model.id in known) for model in models]
    costs = [model.at.cost for model in rows]
    return {"going": rows, "spent": sum(costs) if len(known) == len(models) else None}


def list_priced(ids: Iterable[str]) -> set[str]:
    """Return the ids of those models whose token prices are known."""
    rows = LanguageModel.objects.filter(public_id__in=list(ids), price_in__isnull=False)
    return {str(public_id) for public_id in rows.values_list("public_id", flat=True)}


STANDING = Page("standing", "Model by model", "evaluation/ask/standing.html", build_progress)
