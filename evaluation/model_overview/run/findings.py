"""Correlations, ranks and disagreements of views (measures), and the summary a run stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from evaluation.consensus.inputs import Progress
from evaluation.consensus.signatures import collect_versions
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.model_overview.methods import (
    Disagreement,
    ViewCorrelation,
    compute_correlations,
    compute_disagreement,
    compute_standings,
)
from evaluation.model_overview.run.gathering import (
    AlignedMetrics,
    ModelNumber,
    Source,
    ViewsParameters,
)
from evaluation.runs.flow.stored import Aspect, Measure, RunSummary


@dataclass(frozen=True)
class CorrelationRow:
    """A row of correlations.csv: rank correlation of two views over questions, within models.

    `model` is "" for the mean over models.
    `spearman` is of the unchanged numbers, also if lower ones are better.
    """

    view: str
    other: str
    model: str
    spearman: float | None
    low: float | None
    high: float | None
    n_questions: int
    n_models: int
    n_answers: int
    reason: str | None


@dataclass(frozen=True)
class StandingRow:
    """A row of models.csv: one model's mean, gain and rank in one view (measure).

    `gain` is the mean difference to the other models' mean on the same `n_gain` questions; `place`
    is the rank of the mean among `n_models`, 1 is best; None in a view without a better direction.
    """

    model: str
    view: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    n_gain: int
    place: int | None
    n_models: int
    reason: str | None


@dataclass(frozen=True)
class DisagreementRow:
    """A row of disagreements.csv: an answer, and the two views that rank it most differently.

    `strength` is the difference of their places among all answers, 0 to 1; the places are shares
    of answers that are worse in the view.
    """

    model: str
    question: str
    strength: float
    best_view: str
    best_place: float
    worst_view: str
    worst_place: float


@dataclass(frozen=True)
class ViewResults:
    """Results of a model overview: values of all views (measures), correlations, means.

    Attributes
    ----------
    correlations : correlations of every two views. own : each model's correlation of its main view
        of uncertainty with that of the crowd, with an interval; () without one of them.
    """

    together: AlignedMetrics
    parameters: ViewsParameters
    correlations: tuple[CorrelationRow, ...]
    own: tuple[CorrelationRow, ...]
    standings: tuple[StandingRow, ...]

    @cached_property
    def disagreement(self) -> Disagreement:
        """How much the aspects (main views) of each answer differ in rank."""
        return compute_disagreement_of_sides(self.together)


def compute_results(
    together: AlignedMetrics, parameters: ViewsParameters, progress: Progress | None = None
) -> ViewResults:
    """Compute correlations of views and models' means and ranks from the combined views."""
    pairs = list(combinations(range(len(together.views)), 2))
    n_draws, seed = parameters.bootstrap, parameters.seed
    views = []
    for done, pair in enumerate(_split_pairs(pairs)):
        if progress is not None:
            progress("correlating", min(done * BATCH, len(pairs)), len(pairs))
        views += compute_correlations(together.values, pair, n_draws, seed)
    rows = [
        _build_correlation_row(together, pair, correlation, correlation.estimate, "")
        for pair, correlation in zip(pairs, views, strict=True)
    ]
    if progress is not None:
        progress("correlating", len(pairs), len(pairs))
    return ViewResults(
        together,
        parameters,
        tuple(rows),
        tuple(_build_own_correlation_rows(together, parameters)),
        tuple(_build_standing_rows(together, parameters)),
    )


# Pairs at once: they share the ranks of the draws.
BATCH = 30


def _split_pairs(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the pairs of views in batches of limited size, to bound the memory used."""
    return [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]


def _build_correlation_row(
    together: AlignedMetrics,
    pair: tuple[int, int],
    view_correlation: ViewCorrelation,
    estimate: SampleEstimate,
    model: str,
) -> CorrelationRow:
    """Return the row of one pair's correlation over all models, or of one model."""
    one, other = (together.views[index].name for index in pair)
    return CorrelationRow(
        one,
        other,
        model,
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.n,
        view_correlation.n_models,
        view_correlation.n_cells,
        estimate.reason,
    )


def _build_own_correlation_rows(
    together: AlignedMetrics, parameters: ViewsParameters
) -> list[CorrelationRow]:
    """Return each model's correlation of its uncertainty with its distance from the crowd."""
    crowd, sure = together.leading(Aspect.CROWD), together.leading(Aspect.UNCERTAINTY)
    if crowd is None or sure is None:
        return []
    rows = []
    for index, model in enumerate(together.models):
        alone = together.values[[crowd, sure], index : index + 1]
        # Of one model the mean over models is its own correlation, with an interval of its own.
        (correlation,) = compute_correlations(
            alone, [(0, 1)], parameters.bootstrap, parameters.seed
        )
        rows.append(
            _build_correlation_row(
                together, (crowd, sure), correlation, correlation.estimate, model
            )
        )
    return rows


def _build_standing_rows(
    together: AlignedMetrics, parameters: ViewsParameters
) -> list[StandingRow]:
    """Return each model's mean and rank in each view of answers, model by model."""
    of_view = {}
    for index, view in enumerate(together.views):
        if view.of == "answer":
            of_view[index] = compute_standings(
                together.values[index],
                higher_is_better=view.better != "lower",
                n_draws=parameters.bootstrap,
                seed=parameters.seed,
            )
    rows = []
    for number, model in enumerate(together.models):
        for index, standing in of_view.items():
            one, view = standing[number], together.views[index]
            rows.append(
                StandingRow(
                    model,
                    view.name,
                    one.mean.value,
                    one.mean.low,
                    one.mean.high,
                    one.mean.n,
                    one.gain.value,
                    one.gain.low,
                    one.gain.high,
                    one.gain.n,
                    one.place if view.better else None,
                    one.n_models,
                    one.mean.reason,
                )
            )
    return rows


def compute_disagreement_of_sides(together: AlignedMetrics) -> Disagreement:
    """Return how much the main views of the aspects differ in rank on each answer."""
    sides = [together.oriented(index) for index in together.sides]
    # Without any side there is no value for any answer.
    nothing = np.full((1, *together.values.shape[1:]), np.nan)
    return compute_disagreement(np.stack(sides) if sides else nothing)


def build_disagreement_rows(
    together: AlignedMetrics, source: Disagreement
) -> list[DisagreementRow]:
    """Return a row per answer with values in two or more aspects, the largest difference first."""
    names = [together.views[index].name for index in together.sides]
    rows = []
    for model, question in source.strongest().tolist():
        best, worst = int(source.highest[model, question]), int(source.lowest[model, question])
        rows.append(
            DisagreementRow(
                together.models[model],
                together.questions[question],
                float(source.strength[model, question]),
                names[best],
                float(source.places[best, model, question]),
                names[worst],
                float(source.places[worst, model, question]),
            )
        )
    return rows


VERSION = 1


@dataclass(frozen=True)
class ViewAbout:
    """A view (measure of models), its source run, and whether it is its aspect's main view."""

    view: Measure
    source: int
    leads: bool
    n_answers: int


@dataclass(frozen=True)
class ViewsSummary(RunSummary):
    """Stored summary of a model overview run: sources, views, models, correlations, means.

    Attributes
    ----------
    sources : runs or folders of the views. views : views of answers and questions, in order;
        model_views : views of whole models, whose values are in `of_models`.
    answers : number of (model, question) pairs with a value in any view.
    correlations, own, standings : as in `ViewResults`.
    repeated : number of rows that repeat an earlier one.
    """

    sources: tuple[Source, ...] = ()
    views: tuple[ViewAbout, ...] = ()
    model_views: tuple[ViewAbout, ...] = ()
    models: tuple[str, ...] = ()
    questions: int = 0
    answers: int = 0
    correlations: tuple[CorrelationRow, ...] = ()
    own: tuple[CorrelationRow, ...] = ()
    standings: tuple[StandingRow, ...] = ()
    of_models: tuple[ModelNumber, ...] = ()
    repeated: int = 0
    seed: int = 0
    bootstrap: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_found(cls, found: ViewResults) -> ViewsSummary:
        """Return the summary to store for computed results."""
        together = found.together
        leading = set(together.sides)
        of_answers = np.array([view.of == "answer" for view in together.views])
        known = together.known & of_answers[:, None, None]
        views = tuple(
            ViewAbout(view, source, index in leading, int(known[index].sum()))
            for index, (view, source) in enumerate(
                zip(together.views, together.source_of, strict=True)
            )
        )
        return cls(
            VERSION,
            together.sources,
            views,
            tuple(ViewAbout(view, index, False, 0) for view, index in together.model_views),
            together.models,
            len(together.questions),
            int(known.any(axis=0).sum()),
            found.correlations,
            found.own,
            found.standings,
            together.of_models,
            together.repeated,
            found.parameters.seed,
            found.parameters.bootstrap,
            collect_versions(),
        )

    def get_shown_counts(self) -> dict[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {
            "models": len(self.models),
            "questions": self.questions,
            "views": len(self.views),
            "answers": self.answers,
        }

    def view(self, name: str) -> ViewAbout | None:
        """Return a view (measure of answers, questions or models) by its name, or None."""
        return next(
            (about for about in (*self.views, *self.model_views) if about.view.name == name), None
        )

    def leading(self, side: Aspect) -> ViewAbout | None:
        """Return the main view of an aspect (side) of models; None if there is none."""
        return next((view for view in self.views if view.leads and view.view.side == side), None)

    @property
    def dispersion(self) -> ViewAbout | None:
        """View of how much workers' answers to a question differ; None if there is none."""
        rows = (
            view
            for view in self.views
            if view.view.of == "question" and view.view.side == Aspect.CROWD
        )
        return next(rows, None)

    @property
    def missing(self) -> list[Aspect]:
        """Aspects of models (such as robustness) of which there is no result."""
        return [side for side in Aspect if self.leading(side) is None]

    def correlation(self, one: str, other: str) -> CorrelationRow | None:
        """Return the correlation of two views over all models; None if there is none."""
        wanted = {one, other}
        return next((row for row in self.correlations if {row.view, row.other} == wanted), None)

    def own_correlation(self, model: str) -> CorrelationRow | None:
        """Return a model's correlation of uncertainty with distance from the crowd, or None."""
        return next((row for row in self.own if row.model == model), None)

    def standing(self, model: str, view: str) -> StandingRow | None:
        """Return a model's mean and rank in a view; None if there is none."""
        matches = (row for row in self.standings if (row.model, row.view) == (model, view))
        return next(matches, None)

    def number(self, model: str, view: str) -> ModelNumber | None:
        """Return a model's overall value in a view of whole models; None if there is none."""
        matches = (
            model_number
            for model_number in self.of_models
            if (model_number.model, model_number.view) == (model, view)
        )
        return next(matches, None)
