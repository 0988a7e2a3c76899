"""Correlations, ranks and disagreements of measures, and the summary a run stores."""

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
    MeasureCorrelation,
    compute_disagreement,
    compute_measure_correlations,
    compute_model_results,
)
from evaluation.model_overview.run.gathering import (
    AlignedMetrics,
    ComparedRun,
    ModelValue,
    ViewsParameters,
)
from evaluation.runs.flow.stored import Aspect, Measure, RunSummary


@dataclass(frozen=True)
class CorrelationRow:
    """A row of correlations.csv: rank correlation of two measures over questions, within models.

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
class ModelResultRow:
    """A row of models.csv: one model's mean in one measure, its difference (`gain`) and its rank.

    `gain` is the mean difference to the other models' mean on the same `n_gain` questions; `place`
    is the rank of the mean among `n_models`, 1 is best; None if neither direction is better.
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
    """A row of disagreements.csv: an answer, and the two measures that rank it most differently.

    `strength` is the difference of their places among all answers, 0 to 1; the places are shares
    of answers that are worse in the measure.
    """

    model: str
    question: str
    strength: float
    best_view: str
    best_place: float
    worst_view: str
    worst_place: float


@dataclass(frozen=True)
class OverviewResults:
    """Results of a model overview: values of all measures, correlations, and models' means.

    Attributes
    ----------
    correlations : correlations of every two views. own : each model's correlation of its main view
        of uncertainty with that of the crowd, with an interval; () without one of them.
    """

    together: AlignedMetrics
    parameters: ViewsParameters
    correlations: tuple[CorrelationRow, ...]
    own: tuple[CorrelationRow, ...]
    standings: tuple[ModelResultRow, ...]

    @cached_property
    def disagreement(self) -> Disagreement:
        """How much the main measures of the aspects differ in rank on each answer."""
        return compute_aspect_disagreement(self.together)


def compute_overview_results(
    together: AlignedMetrics, parameters: ViewsParameters, progress: Progress | None = None
) -> OverviewResults:
    """Return the correlations of measures, and models' means and ranks, from combined values."""
    pairs = list(combinations(range(len(together.views)), 2))
    n_draws, seed = parameters.bootstrap, parameters.seed
    views = []
    for done, pair in enumerate(_split_pairs(pairs)):
        if progress is not None:
            progress("correlating", min(done * BATCH, len(pairs)), len(pairs))
        views += compute_measure_correlations(together.values, pair, n_draws, seed)
    rows = [
        _build_correlation_row(together, pair, correlation, correlation.estimate, "")
        for pair, correlation in zip(pairs, views, strict=True)
    ]
    if progress is not None:
        progress("correlating", len(pairs), len(pairs))
    return OverviewResults(
        together,
        parameters,
        tuple(rows),
        tuple(_build_own_correlation_rows(together, parameters)),
        tuple(_build_model_result_rows(together, parameters)),
    )


# Pairs at once: they share the ranks of the draws.
BATCH = 30


def _split_pairs(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the pairs of measures in batches of 30, to bound the memory used."""
    return [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]


def _build_correlation_row(
    together: AlignedMetrics,
    pair: tuple[int, int],
    view_correlation: MeasureCorrelation,
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
    """Return each model's correlation of its uncertainty with its score; [] without one of both."""
    crowd, sure = (
        together.find_main_measure(Aspect.CROWD),
        together.find_main_measure(Aspect.UNCERTAINTY),
    )
    if crowd is None or sure is None:
        return []
    rows = []
    for index, model in enumerate(together.models):
        alone = together.values[[crowd, sure], index : index + 1]
        # Of one model the mean over models is its own correlation, with an interval of its own.
        (correlation,) = compute_measure_correlations(
            alone, [(0, 1)], parameters.bootstrap, parameters.seed
        )
        rows.append(
            _build_correlation_row(
                together, (crowd, sure), correlation, correlation.estimate, model
            )
        )
    return rows


def _build_model_result_rows(
    together: AlignedMetrics, parameters: ViewsParameters
) -> list[ModelResultRow]:
    """Return each model's mean and rank in each measure of answers, model by model."""
    of_view = {}
    for index, view in enumerate(together.views):
        if view.of == "answer":
            of_view[index] = compute_model_results(
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
                ModelResultRow(
                    model,
                    view.name,
                    one.mean.value,
                    one.mean.low,
                    one.mean.high,
                    one.mean.n,
                    one.difference.value,
                    one.difference.low,
                    one.difference.high,
                    one.difference.n,
                    one.rank if view.better else None,
                    one.n_models,
                    one.mean.reason,
                )
            )
    return rows


def compute_aspect_disagreement(together: AlignedMetrics) -> Disagreement:
    """Return how much the main measures of the aspects differ in rank on each answer."""
    sides = [together.get_oriented_values(index) for index in together.sides]
    # Without any side there is no value for any answer.
    nothing = np.full((1, *together.values.shape[1:]), np.nan)
    return compute_disagreement(np.stack(sides) if sides else nothing)


def build_disagreement_rows(
    together: AlignedMetrics, source: Disagreement
) -> list[DisagreementRow]:
    """Return a row per answer with values in two or more aspects, the largest difference first."""
    names = [together.views[index].name for index in together.sides]
    rows = []
    for model, question in source.order_answers().tolist():
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
class SummaryMeasure:
    """A measure of models, its source run, and whether it is its aspect's main measure."""

    view: Measure
    source: int
    leads: bool
    n_answers: int


@dataclass(frozen=True)
class ViewsSummary(RunSummary):
    """Stored summary of a model overview run: sources, measures, models, correlations, means.

    Attributes
    ----------
    sources : runs or folders of the views. views : views of answers and questions, in order;
        model_views : views of whole models, whose values are in `of_models`.
    answers : number of (model, question) pairs with a value in any view.
    correlations, own, standings : as in `OverviewResults`.
    repeated : number of rows that repeat an earlier one.
    """

    sources: tuple[ComparedRun, ...] = ()
    views: tuple[SummaryMeasure, ...] = ()
    model_views: tuple[SummaryMeasure, ...] = ()
    models: tuple[str, ...] = ()
    questions: int = 0
    answers: int = 0
    correlations: tuple[CorrelationRow, ...] = ()
    own: tuple[CorrelationRow, ...] = ()
    standings: tuple[ModelResultRow, ...] = ()
    of_models: tuple[ModelValue, ...] = ()
    repeated: int = 0
    seed: int = 0
    bootstrap: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_results(cls, found: OverviewResults) -> ViewsSummary:
        """Return the summary to store for computed results."""
        together = found.together
        leading = set(together.sides)
        of_answers = np.array([view.of == "answer" for view in together.views])
        known = together.known & of_answers[:, None, None]
        views = tuple(
            SummaryMeasure(view, source, index in leading, int(known[index].sum()))
            for index, (view, source) in enumerate(
                zip(together.views, together.source_of, strict=True)
            )
        )
        return cls(
            VERSION,
            together.sources,
            views,
            tuple(SummaryMeasure(view, index, False, 0) for view, index in together.model_views),
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

    def find_measure(self, name: str) -> SummaryMeasure | None:
        """Return a measure (of answers, questions or models) by its name; None if unknown."""
        return next(
            (about for about in (*self.views, *self.model_views) if about.view.name == name), None
        )

    def find_main_measure(self, side: Aspect) -> SummaryMeasure | None:
        """Return the main measure of an aspect of models; None if there is none."""
        return next((view for view in self.views if view.leads and view.view.side == side), None)

    @property
    def dispersion(self) -> SummaryMeasure | None:
        """Measure of how much workers' answers to a question differ; None if there is none."""
        rows = (
            view
            for view in self.views
            if view.view.of == "question" and view.view.side == Aspect.CROWD
        )
        return next(rows, None)

    @property
    def missing(self) -> list[Aspect]:
        """Aspects of models (such as robustness) that no measure covers."""
        return [side for side in Aspect if self.find_main_measure(side) is None]

    def find_correlation(self, one: str, other: str) -> CorrelationRow | None:
        """Return the correlation of two measures over all models; None if there is none."""
        wanted = {one, other}
        return next((row for row in self.correlations if {row.view, row.other} == wanted), None)

    def find_own_correlation(self, model: str) -> CorrelationRow | None:
        """Return a model's correlation of its uncertainty with its score; None if there is none."""
        return next((row for row in self.own if row.model == model), None)

    def find_model_result(self, model: str, view: str) -> ModelResultRow | None:
        """Return a model's mean and rank in a measure; None if there is none."""
        matches = (row for row in self.standings if (row.model, row.view) == (model, view))
        return next(matches, None)

    def find_model_value(self, model: str, view: str) -> ModelValue | None:
        """Return a model's overall value in a measure of whole models; None if there is none."""
        matches = (
            model_number
            for model_number in self.of_models
            if (model_number.model, model_number.view) == (model, view)
        )
        return next(matches, None)
