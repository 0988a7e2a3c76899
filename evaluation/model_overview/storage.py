"""Model overview on the database: sources, results of other runs, stored values.

Run types whose results the model overview combines, and the execution of its run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from annotations.models import QuestionSetVersion
from evaluation.core.options import Problem, build_problem, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.core.stats.cells import Floats
from evaluation.model_overview.run.findings import ViewsSummary, compute_results
from evaluation.model_overview.run.gathering import (
    AlignedMetrics,
    Gathering,
    NoObservationsError,
    Source,
    ViewsParameters,
)
from evaluation.models import Run, RunData
from evaluation.runs.flow.stored import MeasuredObservation
from evaluation.runs.run_types.kind import Kind
from evaluation.runs.run_types.registry import list_kinds, list_run_kinds
from evaluation.runs.steps.checkpoints import RunEnd, RunInputError, Turn

# The name of the numbers among a run's data.
CELLS = "views"
# Most runs of one run type that are read, the newest ones.
MOST_RUNS = 8


@dataclass(frozen=True)
class ViewProvider:
    """How the overview reads views (measures) from the runs of one run type.

    Attributes
    ----------
    read_observations : function from a finished run to its observations. merging : names of the
        views that
        several runs may provide, each for its own models.
    """

    kind: str
    title: str
    read_observations: Callable[[Run], Iterator[MeasuredObservation]]
    merging: frozenset[str]


def combine_runs(turn: Turn, providers: Iterable[ViewProvider]) -> None:
    """Execute a claimed model overview run: combine the results of its version's runs."""
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    parameters = load_parameters(run)
    try:
        together = gather_runs(run.version, providers, turn)
    except NoObservationsError:
        raise RunInputError("run.nothing_to_view") from None
    views = compute_results(together, parameters, turn.report_progress)
    input_hash = together.hash()
    with turn.open_fenced_transaction():
        turn.store_json(CELLS, _convert_to_json(together))
        turn.finish_run(
            RunEnd(
                _build_signature(parameters, input_hash), input_hash, ViewsSummary.of_found(views)
            )
        )


def find_source_runs(version: QuestionSetVersion, kinds: Iterable[str]) -> dict[str, list[Run]]:
    """Return the newest finished runs of a version by run type, without types that have none."""
    found: dict[str, list[Run]] = {kind: [] for kind in kinds}
    done = Run.objects.filter(version=version, kind__in=list(found), state=Run.State.DONE)
    for run in done.select_related("version").order_by("-pk"):
        if len(found[run.kind]) < MOST_RUNS:
            found[run.kind].append(run)
    return {kind: runs for kind, runs in found.items() if runs}


def gather_runs(
    version: QuestionSetVersion, providers: Iterable[ViewProvider], turn: Turn | None = None
) -> AlignedMetrics:
    """Return the combined views of a version's runs; raises `NoObservationsError` if none.

    Of each run type the newest run counts, and older ones for models that no newer run contains.
    """
    ids = version.questions.graded().order_by("position", "pk")
    gathering = Gathering(list(ids.values_list("external_id", flat=True)))
    known = {provider.kind: provider for provider in providers}
    by_kind = find_source_runs(version, known)
    total, done = sum(map(len, by_kind.values())), 0
    for kind, provider in known.items():
        seen: set[str] = set()
        sources: tuple[Source, list[MeasuredObservation]] | None = None
        for run in by_kind.get(kind, []):
            if turn is not None:
                turn.report_progress("loading", done, total)
            done += 1
            observations = provider.read_observations(run)
            new = list(_select_new(observations, seen, provider.merging) if seen else observations)
            source = Source(kind, provider.title, str(run.public_id), run.signature)
            models = {one.observation.model for one in new if one.observation.value is not None} - {
                ""
            }
            if models:
                seen |= models
                gathering.add(source, new)
            elif sources is None:
                sources = source, new
        # A grading without models still has the workers' disagreement by question.
        if not seen and sources is not None:
            gathering.add(*sources)
    return gathering.together()


def _select_new(
    viewed_observations: Iterable[MeasuredObservation], seen: set[str], merging: frozenset[str]
) -> Iterator[MeasuredObservation]:
    """Yield an older run's observations of models that no newer run contains."""
    for one in viewed_observations:
        name = one.view.name.partition(":")[0]
        if name in merging and one.observation.model and one.observation.model not in seen:
            yield one


def load_parameters(run: Run) -> ViewsParameters:
    """Return the options of a run, with defaults for those that an older run did not store."""
    stored: dict[str, Any] = run.parameters
    try:
        return ViewsParameters.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _build_signature(parameters: ViewsParameters, input_hash: str) -> str:
    parts = {
        **build_signature_parts(parameters),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["views", *(f"{name}:{value}" for name, value in parts.items())])


def _convert_to_json(together: AlignedMetrics) -> dict[str, Any]:
    """Return the values as JSON to store; a value of a question is stored once for all models."""
    return {
        "questions": together.questions,
        "values": [
            _convert_nan_to_none(values[:1] if view.of == "question" else values)
            for view, values in zip(together.views, together.values, strict=True)
        ],
        "reasons": [[*place, reason] for place, reason in together.reasons.items()],
    }


def _convert_nan_to_none(values: Floats) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in values.tolist()]


def load_values(run: Run, summary: ViewsSummary) -> AlignedMetrics:
    """Return the combined view values that a finished run stored."""
    stored: Mapping[str, Any] = RunData.objects.get(run=run, name=CELLS).data
    shape = (len(summary.models), len(stored["questions"]))
    # A view of questions is stored with one row, which holds for every model.
    values = [np.broadcast_to(np.array(rows, dtype=np.float64), shape) for rows in stored["values"]]
    return AlignedMetrics(
        summary.sources,
        tuple(about.view for about in summary.views),
        tuple(about.source for about in summary.views),
        summary.models,
        tuple(stored["questions"]),
        np.stack(values),
        {(view, model, index): reason for view, model, index, reason in stored["reasons"]},
        tuple((about.view, about.source) for about in summary.model_views),
        summary.of_models,
        summary.repeated,
    )


def list_kinds_of_runs() -> list[Kind]:
    """Return the run types whose stored runs provide views (measures), in settings order."""
    return [kind for kind in list_run_kinds().values() if kind.has_measures]


def list_kinds_of_files() -> list[Kind]:
    """Return the run types whose output files provide views (measures), in settings order."""
    return [
        kind for kind in list_kinds().values() if kind.has_measures and kind.has_evaluate_command
    ]


def list_providers(kinds: Iterable[Kind]) -> list[ViewProvider]:
    """Return, for each run type, how the overview reads views (measures) from its runs."""
    return [
        ViewProvider(
            kind.name,
            kind.title,
            kind.read_observations,
            frozenset(viewed.view.name for viewed in kind.views if viewed.merges),
        )
        for kind in kinds
    ]


def execute_run(turn: Turn) -> None:
    """Execute a claimed model overview run over the results of all run types."""
    combine_runs(turn, list_providers(list_kinds_of_runs()))


def find_start_problems(version: QuestionSetVersion, user: Any, options: Any) -> list[Problem]:
    """Return a problem if no finished run of the version provides a view, else []."""
    kinds = [kind.name for kind in list_kinds_of_runs()]
    return [] if find_source_runs(version, kinds) else [build_problem("no_views")]
