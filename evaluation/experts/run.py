"""Compute agreement, question difficulty and mean grades from experts' grades, on records.

How far they agree, how hard each question is by their grades, how their grades correlate with the
automatic scores, and what each worker's or model's mean grade would be if all answers were graded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields

import numpy as np

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import IntegerOption, Parameters, declare_option
from evaluation.core.stats.inference.clustered import NO_ROWS, ClusteredEstimate
from evaluation.core.stats.inference.correlations import estimate_correlation
from evaluation.core.stats.inference.prediction_powered import (
    PoweredGroupMean,
    compute_weighted_mean,
    estimate_powered_group_means,
)
from evaluation.core.stats.inference.raters import PanelAgreement, compute_panel_agreement


@dataclass(frozen=True)
class ExpertsParameters(Parameters):
    """Options of the evaluation of experts' grades: number of bootstrap draws of questions."""

    bootstrap: int = declare_option(
        400,
        IntegerOption(
            label="Bootstrap draws",
            help="Draws of questions for the intervals of agreement and correlation.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, AqerParameters.get_options()["seed"])


HIGHEST = 5.0
WORKER, MODEL = "worker", "model"
NOT_RANDOM = "not_drawn_at_random"

# Levels of agreement by Krippendorff's alpha (Krippendorff 2019, "Content analysis", 4th edition,
# section 12.4.2): reliable from .8, for tentative conclusions from .667.
RELIABLE, TENTATIVE = 0.8, 0.667


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer with its author (worker or model), question and automatic score.

    `author` and `question` are ids; `score` is None if missing.
    """

    author: str
    of_model: bool
    question: str
    score: float | None = None


@dataclass(frozen=True)
class GradedAnswer:
    """An answer with its experts' grades, and the grade that settled a disagreement.

    Attributes
    ----------
    grades : independent grades by expert. settled : grade that settled a disagreement, or None.
    weight : number of answers it represents in the sample's design; answers with weight 0 are left
        out of difficulties and mean grades.
    """

    answer: ScoredAnswer
    grades: Mapping[str, float]
    settled: float | None = None
    weight: float = 1.0

    @property
    def grade(self) -> float:
        """Final grade of the answer: the settling expert's grade, else the mean of all."""
        if self.settled is not None:
            return self.settled
        return sum(self.grades.values()) / len(self.grades)


@dataclass(frozen=True)
class AgreementCoefficient:
    """A measure of agreement of all experts, with its 95% interval over questions.

    Attributes
    ----------
    n, n_questions : numbers of answers and of questions it was computed from.
    """

    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    n_questions: int
    reason: str | None


@dataclass(frozen=True)
class QuestionDifficulty:
    """Difficulty of a question, from experts' grades of workers' answers to it.

    Attributes
    ----------
    difficulty : 1 - (mean grade) / 5: 0 if all answers are right, 1 if all are wrong; grades are
        weighted by the number of answers that they represent. low, high : 95% interval (Student's
        t, cut to 0..1); None with a reason.
    n, n_answers : numbers of graded and of all workers' answers.
    """

    question: str
    difficulty: float
    low: float | None
    high: float | None
    n: int
    n_answers: int
    reason: str | None


@dataclass(frozen=True)
class EstimatedMeanGrade:
    """Estimated mean grade of all answers of a worker or model, from few grades and all scores.

    Attributes
    ----------
    kind : "worker" or "model". graded, graded_low, graded_high : mean and interval by grades alone.
    mean, low, high : mean and interval by grades and scores (prediction-powered).
    weight : weight of the scores; 0 if not used, as for graded answers with unequal weights.
    narrower : share by which the second interval is narrower than the first.
    n, n_answers : numbers of answers with a grade, and with a score.
    """

    kind: str
    name: str
    mean: float
    low: float | None
    high: float | None
    graded: float
    graded_low: float | None
    graded_high: float | None
    weight: float
    narrower: float | None
    n: int
    n_answers: int
    reason: str | None


@dataclass(frozen=True)
class ExpertFindings:
    """All findings from experts' grades: agreement, difficulty, correlations and mean grades.

    Attributes
    ----------
    experts : names of the experts. panel : their agreement.
    level : "reliable", "tentative", "poor", or "unknown" where fewer than two
        answers have two grades, or all grades are alike.
    people, models : correlation of scores with the grades that count.
    """

    experts: list[str]
    n_graded: int
    n_settled: int
    panel: PanelAgreement
    level: str
    agreement: list[AgreementCoefficient]
    people: ClusteredEstimate
    models: ClusteredEstimate
    difficulty: list[QuestionDifficulty]
    means: list[EstimatedMeanGrade] = field(default_factory=list)
    without_means: str | None = None


def compute_expert_findings(
    graded: Sequence[GradedAnswer],
    answers: Iterable[ScoredAnswer],
    parameters: ExpertsParameters,
    *,
    random: bool = True,
) -> ExpertFindings:
    """Return all findings from experts' grades and automatic scores.

    Parameters
    ----------
    graded : the answers with a grade. answers : all scored answers of the same workers and models,
        including the graded ones; empty without scores.
    random : whether the graded answers were drawn at random; otherwise no mean grades of all
        answers are estimated.
    """
    experts = sorted({name for graded_answer in graded for name in graded_answer.grades})
    ratings = np.array(
        [[graded_answer.grades.get(name, np.nan) for name in experts] for graded_answer in graded],
        dtype=np.float64,
    ).reshape(len(graded), len(experts))
    draws, seed = parameters.bootstrap, parameters.seed
    panel = compute_panel_agreement(
        ratings, [graded_answer.answer.question for graded_answer in graded], draws, seed
    )
    known = list(answers)
    standing = [graded_answer for graded_answer in graded if graded_answer.weight > 0]
    means = estimate_mean_grades(standing, known) if random else []
    return ExpertFindings(
        experts,
        len(graded),
        sum(graded_answer.settled is not None for graded_answer in graded),
        panel,
        classify_agreement(panel),
        [
            AgreementCoefficient(
                name,
                estimate.value,
                estimate.low,
                estimate.high,
                estimate.n,
                estimate.n_clusters,
                estimate.reason,
            )
            for name, estimate in panel.iterate_coefficients()
        ],
        _correlate_scores(
            [graded_answer for graded_answer in graded if not graded_answer.answer.of_model],
            parameters,
        ),
        _correlate_scores(
            [graded_answer for graded_answer in graded if graded_answer.answer.of_model], parameters
        ),
        compute_difficulties(standing, known),
        means,
        None if random else NOT_RANDOM,
    )


def classify_agreement(panel: PanelAgreement) -> str:
    """Return the level of agreement, by Krippendorff's alpha for interval data.

    "reliable" also needs a lower end of the interval at or above the limit for "tentative";
    "unknown" without an alpha, or with fewer than two answers that have two grades.
    """
    alpha, low = panel.alpha_interval.value, panel.alpha_interval.low
    if alpha is None or panel.n_by_two < 2:  # of one answer alpha is 0 whenever two differ
        return "unknown"
    if alpha >= RELIABLE and low is not None and low >= TENTATIVE:
        return "reliable"
    return "tentative" if alpha >= TENTATIVE else "poor"


def compute_difficulties(
    graded: Sequence[GradedAnswer], answers: Iterable[ScoredAnswer]
) -> list[QuestionDifficulty]:
    """Return the difficulty of each question with a graded worker answer, hardest first."""
    answers_by_question: dict[str, list[GradedAnswer]] = {}
    for graded_answer in graded:
        if not graded_answer.answer.of_model:
            answers_by_question.setdefault(graded_answer.answer.question, []).append(graded_answer)
    counts: dict[str, int] = {}
    for answer in answers:
        if not answer.of_model:
            counts[answer.question] = counts.get(answer.question, 0) + 1
    result = [
        # `answers` are those with a score; graded ones may have none.
        _compute_difficulty(question, mine, max(len(mine), counts.get(question, 0)))
        for question, mine in answers_by_question.items()
    ]
    return sorted(result, key=lambda one: -one.difficulty)


def _compute_difficulty(
    question: str, graded_answers: Sequence[GradedAnswer], n_answers: int
) -> QuestionDifficulty:
    """Return a question's difficulty, with its interval, from the grades of its answers."""
    mean = compute_weighted_mean(
        [answer.grade for answer in graded_answers], [answer.weight for answer in graded_answers]
    )
    # Difficulty falls where grades rise: the interval's ends change places.
    low, high = (
        None if end is None else min(1.0, max(0.0, 1 - end / HIGHEST))
        for end in (mean.high, mean.low)
    )
    value = 1 - (mean.mean or 0.0) / HIGHEST
    return QuestionDifficulty(
        question, value, low, high, len(graded_answers), n_answers, mean.reason
    )


def estimate_mean_grades(
    graded: Sequence[GradedAnswer], answers: Sequence[ScoredAnswer]
) -> list[EstimatedMeanGrade]:
    """Return the estimated mean grades of graded workers, then of models, each best first.

    The relation of scores to grades is learned from the other workers, or the other models. For a
    worker or model whose graded answers have different weights, the estimate is their weighted
    mean.
    """
    answer_by_key = {
        (
            graded_answer.answer.of_model,
            graded_answer.answer.author,
            graded_answer.answer.question,
        ): graded_answer
        for graded_answer in graded
    }
    result: list[EstimatedMeanGrade] = []
    for of_model in (False, True):
        mine = [answer for answer in answers if answer.of_model == of_model]
        grades = [answer_by_key.get((of_model, answer.author, answer.question)) for answer in mine]
        groups = estimate_powered_group_means(
            [np.nan if graded is None else graded.grade for graded in grades],
            [np.nan if answer.score is None else answer.score for answer in mine],
            [answer.author for answer in mine],
            weights=[1.0 if graded is None else graded.weight for graded in grades],
        )
        means = [_build_mean_grade(MODEL if of_model else WORKER, group) for group in groups]
        result += sorted(means, key=lambda one: -one.mean)
    return result


def _build_mean_grade(kind: str, group_mean: PoweredGroupMean) -> EstimatedMeanGrade:
    """Return a worker's or model's estimated mean grade, cut to the scale."""
    alone, powered = group_mean.graded, group_mean.powered
    return EstimatedMeanGrade(
        kind=kind,
        name=group_mean.label,
        mean=_clip_grade(powered.mean) or 0.0,
        low=_clip_grade(powered.low),
        high=_clip_grade(powered.high),
        graded=_clip_grade(alone.mean) or 0.0,
        graded_low=_clip_grade(alone.low),
        graded_high=_clip_grade(alone.high),
        weight=powered.weight or 0.0,
        narrower=group_mean.narrower,
        n=powered.n_graded,
        n_answers=powered.n_graded + powered.n_predicted,
        reason=powered.reason if powered.low is None else None,
    )


def _clip_grade(grade: float | None) -> float | None:
    """Return a grade cut to the ends of the scale; None for None."""
    return None if grade is None else min(HIGHEST, max(0.0, grade))


def _correlate_scores(
    graded: Sequence[GradedAnswer], parameters: ExpertsParameters
) -> ClusteredEstimate:
    """Return the correlation of grades with scores over answers that have both."""
    known = [
        (graded_answer, graded_answer.answer.score)
        for graded_answer in graded
        if graded_answer.answer.score is not None
    ]
    if not known:
        return ClusteredEstimate(reason=NO_ROWS)
    return estimate_correlation(
        [score for _, score in known],
        [graded_answer.grade for graded_answer, _ in known],
        [graded_answer.answer.question for graded_answer, _ in known],
        [graded_answer.weight for graded_answer, _ in known],
        parameters.bootstrap,
        parameters.seed,
    )


AGREEMENT, DIFFICULTY, ESTIMATES = (
    tuple(field.name for field in fields(row))
    for row in (AgreementCoefficient, QuestionDifficulty, EstimatedMeanGrade)
)

# How the scores go with the grades stands below the coefficients of agreement.
CORRELATIONS = ("score_correlation_people", "score_correlation_models")

Rows = Iterator[tuple[object, ...]]


def iterate_agreement_rows(findings: ExpertFindings) -> Rows:
    """Yield the rows of the agreement table; columns as in `AGREEMENT`."""
    yield from map(astuple, findings.agreement)
    for name, estimate in zip(CORRELATIONS, (findings.people, findings.models), strict=True):
        if estimate.n:
            yield (
                name,
                estimate.value,
                estimate.low,
                estimate.high,
                estimate.n,
                estimate.n_clusters,
                estimate.reason,
            )


def iterate_difficulty_rows(findings: ExpertFindings) -> Rows:
    """Yield the rows of the difficulty table; columns as in `DIFFICULTY`."""
    yield from map(astuple, findings.difficulty)


def iterate_estimate_rows(findings: ExpertFindings) -> Rows:
    """Yield the rows of the table of mean grades; columns as in `ESTIMATES`."""
    yield from map(astuple, findings.means)
