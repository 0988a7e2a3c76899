"""Reports that compare language models: every pair, and the questions where two differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.db.models import F, Q, QuerySet

from annotations.models import Question
from annotations.web.numbers import build_group_count
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.significance import CORRECTIONS, Correction
from evaluation.models import ExemplaryAnswer, LLMAnswerScore, LLMComparison, LLMScore, Run
from evaluation.runs.reports.about import RunAbout, build_run_about

# Pairs on a page; of more models, those with one of them.
PAIRS_SHOWN = 60
MODELS_OFFERED = 200
QUESTIONS_SHOWN = 8
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class ModelName:
    """Name, score and notice of a language model, for a list to choose from."""

    model: UUID
    name: str
    score: float | None
    notice: str


@dataclass(frozen=True)
class ModelPair(RecordWithReason):
    """Score difference of two language models, on the questions on which both were scored.

    Attributes
    ----------
    difference : mean of the first one's scores less the second one's, with its 95% interval.
    p_value : of a permutation test; adjusted_p_value : the same after the correction (Holm's, if
        no other was requested) for all pairs of the run.
    smallest_detectable : what so many questions could have shown.
    """

    first: UUID
    first_name: str
    second: UUID
    second_name: str
    difference: Estimate
    p_value: float | None
    adjusted_p_value: float | None
    smallest_detectable: float | None
    n: int
    test: str
    reason: str

    @property
    def better(self) -> str:
        """Name of the significantly better model; "" if neither is."""
        p, value = self.adjusted_p_value, self.difference.value
        if p is None or value is None or p >= SIGNIFICANT:
            return ""
        return self.first_name if value > 0 else self.second_name

    def reverse_models(self) -> ModelPair:
        """Return the pair with the models in reverse order and the difference negated."""
        old = self.difference
        value = None if old.value is None else -old.value
        # The other sign swaps the ends of the interval.
        low = None if old.high is None else -old.high
        high = None if old.low is None else -old.low
        return replace(
            self,
            first=self.second,
            first_name=self.second_name,
            second=self.first,
            second_name=self.first_name,
            difference=Estimate(value, low, high),
        )


@dataclass(frozen=True)
class ComparisonsReport:
    """All pairwise comparisons of a run's models, or those with one model.

    Attributes
    ----------
    models : by score, at most 200. n_pairs : in the run. of : the model all pairs begin with,
        None where every pair is shown. correction : "holm" or "benjamini-hochberg".
    """

    renamed_keys: ClassVar = {"of": "model"}

    about: RunAbout
    models: list[ModelName]
    pairs: list[ModelPair]
    n_pairs: int
    of: ModelName | None
    correction: str

    @property
    def corrected_by(self) -> str:
        """Name of the correction for multiple tests, as shown on pages."""
        return CORRECTED_BY[self.correction]

    @property
    def notices(self) -> list[str]:
        """The notices that the models require to be shown, without repetitions."""
        return list(dict.fromkeys(model.notice for model in self.models if model.notice))


@dataclass(frozen=True)
class QuestionDifference:
    """A question with two models' answers and scores."""

    question: UUID
    name: str
    text: str
    first_score: float
    first_text: str
    second_score: float
    second_text: str
    nearest: str

    @property
    def difference(self) -> float:
        """Score of the first model minus that of the second, on this question."""
        return self.first_score - self.second_score


@dataclass(frozen=True)
class PairReport:
    """Two models, and the questions on which the one or the other leads by most."""

    pair: ModelPair
    first_better: list[QuestionDifference]
    second_better: list[QuestionDifference]


def build_comparisons_report(
    run: Run, model: UUID | None = None, correction: Correction = HOLM
) -> ComparisonsReport | None:
    """Return the report on a run's pairs of models; None for an unknown model. Two queries.

    Without a model all pairs, if they are at most 60; otherwise those with the best model.
    """
    models, n_pairs = _read_models(run)
    chosen_model = next((entry for entry in models if entry.model == model), None)
    if model is not None and chosen_model is None:
        return None
    if chosen_model is None and n_pairs > PAIRS_SHOWN:
        chosen_model = models[0]
    pairs = read_pairs(run, correction, None if chosen_model is None else chosen_model.model)
    if chosen_model is None:
        pairs = [_put_better_first(pair) for pair in pairs]
    pairs.sort(key=lambda pair: -abs(pair.difference.value or 0.0))
    return ComparisonsReport(build_run_about(run), models, pairs, n_pairs, chosen_model, correction)


def read_pairs(
    run: Run, correction: Correction = HOLM, model: UUID | None = None
) -> list[ModelPair]:
    """Return all compared pairs of models; with `model` only its pairs, that model first."""
    rows = _query_pairs(run)
    if model is not None and correction == HOLM:  # any other needs the p of every pair
        rows = rows.filter(Q(model_a__public_id=model) | Q(model_b__public_id=model))
    pairs = adjust_p_values([_build_pair(row) for row in rows], correction)
    if model is None:
        return pairs
    return [
        pair if pair.first == model else pair.reverse_models()
        for pair in pairs
        if model in (pair.first, pair.second)
    ]


def adjust_p_values(pairs: list[ModelPair], correction: Correction) -> list[ModelPair]:
    """Return the pairs of models with p-values adjusted by the given correction."""
    if correction == HOLM:
        return pairs
    raw = [float("nan") if pair.p_value is None else pair.p_value for pair in pairs]
    adjusted = map(convert_nan_to_none, CORRECTIONS[correction](raw).tolist())
    return [
        replace(pair, adjusted_p_value=value) for pair, value in zip(pairs, adjusted, strict=True)
    ]


def find_pair(
    run: Run, first: UUID, second: UUID, correction: Correction = HOLM
) -> ModelPair | None:
    """Return the comparison of two models, `first` first; None if they were not compared."""
    pairs = (pair for pair in read_pairs(run, correction, first) if pair.second == second)
    return next(pairs, None)


def iterate_pairs(run: Run) -> Iterator[ModelPair]:
    """Yield every compared pair of models of a run, for export."""
    for row in _query_pairs(run).iterator(2000):
        yield _build_pair(row)


def build_pair_report(
    run: Run, first: UUID, second: UUID, size: int = QUESTIONS_SHOWN
) -> PairReport | None:
    """Return the report on two models, with questions; None if they were not compared."""
    pair = find_pair(run, first, second)
    if pair is None:
        return None
    gaps = read_question_gaps(run, first, second)
    best = [gap for gap in gaps if gap.first_score > gap.second_score][:size]
    worst = [gap for gap in reversed(gaps) if gap.first_score < gap.second_score][:size]
    questions = [gap.question for gap in (*best, *worst)]
    question_rows = {
        row["pk"]: row
        for row in Question.objects.filter(pk__in=questions).values(
            "pk", "public_id", "external_id", question_text=select_beginning("text")
        )
    }
    texts = dict(
        LLMAnswerScore.objects.filter(
            pk__in=[row for gap in (*best, *worst) for row in (gap.first_row, gap.second_row)]
        ).values_list("pk", select_beginning("llm_response__text", ANSWER_SHOWN))
    )
    nearest = dict(
        ExemplaryAnswer.objects.filter(run=run, question__in=questions).values_list(
            "question_id", select_beginning("nearest_response__text", ANSWER_SHOWN)
        )
    )

    def build_difference(gap: QuestionGap) -> QuestionDifference:
        """Return the question with both models' answers and scores."""
        row = question_rows[gap.question]
        return QuestionDifference(
            question=row["public_id"],
            name=row["external_id"],
            text=shorten_text(row["question_text"]),
            first_score=gap.first_score,
            first_text=shorten_text(texts.get(gap.first_row), ANSWER_SHOWN),
            second_score=gap.second_score,
            second_text=shorten_text(texts.get(gap.second_row), ANSWER_SHOWN),
            nearest=shorten_text(nearest.get(gap.question), ANSWER_SHOWN),
        )

    return PairReport(
        pair, [build_difference(gap) for gap in best], [build_difference(gap) for gap in worst]
    )


class QuestionGap(NamedTuple):
    """Scores of two models on one question, with primary keys of the question and the rows."""

    question: int
    first_score: float
    second_score: float
    first_row: int
    second_row: int


def read_question_gaps(run: Run, first: UUID, second: UUID) -> list[QuestionGap]:
    """Return both scores of two models on each common question, best for the first model first.

    By two queries: joined in the database, each score would look for its other one.
    """
    first_scores, second_scores = (
        {
            question: (score, row)
            for question, score, row in LLMAnswerScore.objects.filter(
                run=run, llm_response__model__public_id=model, score__isnull=False
            )
            .order_by("pk")
            .values_list("llm_response__question_id", "score", "pk")
            if score is not None
        }
        for model in (first, second)
    )
    gaps = [
        QuestionGap(
            question, first_scores[question][0], found[0], first_scores[question][1], found[1]
        )
        for question, found in second_scores.items()
        if question in first_scores
    ]
    return sorted(gaps, key=lambda gap: (gap.second_score - gap.first_score, gap.first_row))


def _read_models(run: Run) -> tuple[list[ModelName], int]:
    """Return a run's models (best score first) and the number of compared pairs."""
    n_pairs = build_group_count(LLMComparison.objects.filter(run=run), "run")
    rows = list(
        LLMScore.objects.filter(run=run)
        .order_by(F("score").desc(nulls_last=True), "model__name")
        .values_list("model__public_id", "model__name", "score", "model__notice", n_pairs)[
            :MODELS_OFFERED
        ]
    )
    return [ModelName(*row) for *row, _ in rows], rows[0][-1] if rows else 0


def _query_pairs(run: Run) -> QuerySet[LLMComparison, Any]:
    """Return the query for the stored comparisons of a run's pairs of models."""
    return (
        LLMComparison.objects.filter(run=run)
        .order_by("pk")
        .values(
            "difference",
            "low",
            "high",
            "p_value",
            "adjusted_p_value",
            "smallest_detectable",
            "n",
            "test",
            "reason",
            first=F("model_a__public_id"),
            first_name=F("model_a__name"),
            second=F("model_b__public_id"),
            second_name=F("model_b__name"),
        )
    )


def _build_pair(row: dict[str, Any]) -> ModelPair:
    """Return the comparison of two models, from a database row."""
    values = dict(row)
    difference = Estimate(values.pop("difference"), values.pop("low"), values.pop("high"))
    return ModelPair(difference=difference, **values)


def _put_better_first(pair: ModelPair) -> ModelPair:
    """Return the pair of models, reversed if the first has the lower score."""
    return pair.reverse_models() if (pair.difference.value or 0.0) < 0 else pair
