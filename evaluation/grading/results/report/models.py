"""Reports of a run's language models: by score, one model, and verdicts.

Report of a run's language models by score, and the workers' scores beside them. Report of a
language model in a run: its score, and every answer with its facts. Verdicts on language models:
which is best, and which of two, as message codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import quantiles
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Window

from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.stats.inference.estimate import NO_ESTIMATE, Estimate
from evaluation.grading.facts.report import (
    COUNTED,
    NO_FACTS,
    FactAgreement,
    FactOnQuestion,
    MarkedFactsMixin,
    StatedFact,
    build_fact_agreement,
    read_contradictions,
    read_facts_of_answers,
)
from evaluation.grading.results.messages import format_model_names
from evaluation.grading.results.report.comparisons import ModelPair
from evaluation.grading.results.report.run import Ceiling
from evaluation.models import LLMAnswerScore, LLMScore, Run, WorkerGrade
from evaluation.runs.reports.about import RunAbout, build_run_about

ORDER = Keyset("score", ("-score", "model__public_id"), empty_last=True)
MODELS_PAGE = 100
COLUMNS = (
    "score",
    "score_low",
    "score_high",
    "score_answered",
    "n",
    "n_answered",
    "percentile",
    "rank",
    "contrast",
    "contrast_low",
    "contrast_high",
    "reason",
    "model__public_id",
    "model__name",
    "model__family",
    "model__version",
    "model__size",
    "model__tuning",
    "model__strategy",
    "model__notice",
    *COUNTED,
)


@dataclass(frozen=True)
class ModelRow(RecordWithReason):
    """A language model's score, percentile, rank and facts in one run.

    Attributes
    ----------
    score : mean similarity of its answers to the exemplary ones; an answer without a text counts
        as the run's method says. score_answered : the mean over the answers with a text.
    n, n_answered : questions it was scored on, and those with a text.
    percentile : 0 to 100, share of workers that score lower on the questions it answered.
    rank : 1 + the number of models that are better by more than chance.
    reason : code of why a number is None; "" if none is.
    details : family, version, size, tuning and strategy, as far as known, in that order.
    facts : agreement of the facts in its answers with the crowd; no score depends on it.
    contrast : question contrast: agreement with answers to the same question minus agreement with
        answers to other questions.
    """

    model: UUID
    name: str
    details: str
    notice: str
    score: Estimate
    score_answered: float | None
    n: int
    n_answered: int
    percentile: float | None
    rank: int | None
    reason: str
    facts: FactAgreement = NO_FACTS
    contrast: Estimate = NO_ESTIMATE


@dataclass(frozen=True)
class CrowdScores:
    """Leave-one-out scores of the workers with enough answers, in ascending order."""

    scores: list[float]

    @property
    def n(self) -> int:
        """Number of workers with enough answers for a score."""
        return len(self.scores)

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """First quartile, median and third quartile of the scores; None below 2 workers."""
        if self.n < 2:
            return None
        low, middle, high = quantiles(self.scores, n=4, method="inclusive")
        return low, middle, high

    def compute_histogram(self, count: int = 24) -> list[tuple[float, float, int]]:
        """Return a histogram of `count` equal bins of the scores: (from, to, number of workers)."""
        if not self.scores:
            return []
        low, high = self.scores[0], self.scores[-1]
        width = (high - low) / count
        if width <= 0:
            return [(low, high, self.n)]
        sizes = [0] * count
        for score in self.scores:
            # The highest score would open one more bin.
            sizes[min(int((score - low) / width), count - 1)] += 1
        return [(low + i * width, low + (i + 1) * width, size) for i, size in enumerate(sizes)]


@dataclass(frozen=True)
class ModelsReport:
    """A page of a run's models by score, with the human ceiling and workers' scores."""

    about: RunAbout
    models: Page[ModelRow]
    ceiling: Ceiling
    crowd: CrowdScores

    @property
    def notices(self) -> list[str]:
        """Distinct licence notices that the models require."""
        return list(dict.fromkeys(model.notice for model in self.models.rows if model.notice))


def build_models_report(
    run: Run, after: str = "", size: int = MODELS_PAGE, models: Page[ModelRow] | None = None
) -> ModelsReport:
    """Return the report on a run's language models.

    `models` is the page of models, if it was read before.
    """
    scores = WorkerGrade.select_crowd(run).filter(support=True)
    left_out = scores.order_by().values_list("leave_one_out", flat=True)
    known_scores = [score for score in left_out if score is not None]
    return ModelsReport(
        about=build_run_about(run),
        models=read_model_rows(run, after, size) if models is None else models,
        ceiling=Ceiling.from_run(run),
        crowd=CrowdScores(sorted(known_scores)),
    )


def read_model_rows(
    run: Run, after: str = "", size: int = MODELS_PAGE, *, counted: bool = False
) -> Page[ModelRow]:
    """Return a page of a run's models by score, models without a score last.

    With `counted`, each row also has the number of models.
    """
    rows = LLMScore.objects.filter(run=run).order_by().values(*COLUMNS)
    if not counted:
        return ORDER.load_page(rows, after, size, build_model_row)
    count = 0

    def build_counted_row(row: dict[str, Any]) -> ModelRow:
        """Return a model's row, and remember the number of models that the row holds."""
        nonlocal count
        count = row["n_models"]
        return build_model_row(row)

    # Counted by a window over all rows, so that the page and the number are one query.
    page = ORDER.load_page(
        rows.annotate(n_models=Window(Count("pk"))), after, size, build_counted_row
    )
    return replace(page, count=count)


def build_first_model_rows(scores: Iterable[LLMScore], size: int = MODELS_PAGE) -> list[ModelRow]:
    """Return the first page of models by score, from scores that were already read."""

    def get_sort_key(score: LLMScore) -> tuple[bool, float, UUID]:
        """Return the sort key of a score: scored models first, best score first."""
        return score.score is None, -(score.score or 0.0), score.model.public_id

    values = attrgetter(*(column.replace("__", ".") for column in COLUMNS))
    # As `ORDER` sorts, so that the next page continues where this one ends.
    first = sorted(scores, key=get_sort_key)[:size]
    return [build_model_row(dict(zip(COLUMNS, values(score), strict=True))) for score in first]


def read_model_row(run: Run, model: UUID) -> ModelRow | None:
    """Return a model's row of the report; None if the run has no such model."""
    rows = LLMScore.objects.filter(run=run, model__public_id=model).order_by().values(*COLUMNS)
    row = rows.first()
    return None if row is None else build_model_row(row)


def build_model_row(row: dict[str, Any]) -> ModelRow:
    """Return a model's row of the report, from a database row with the `COLUMNS`."""
    details = (
        row[f"model__{field}"] for field in ("family", "version", "size", "tuning", "strategy")
    )
    return ModelRow(
        model=row["model__public_id"],
        name=row["model__name"],
        details=", ".join(filter(None, details)),
        notice=row["model__notice"],
        score=Estimate(row["score"], row["score_low"], row["score_high"]),
        score_answered=row["score_answered"],
        n=row["n"],
        n_answered=row["n_answered"],
        percentile=row["percentile"],
        rank=row["rank"],
        reason=row["reason"],
        facts=build_fact_agreement(row),
        contrast=Estimate(row["contrast"], row["contrast_low"], row["contrast_high"]),
    )


MODEL_ORDER = Keyset(
    "model_answer", ("llm_response__question__position", "llm_response__question__public_id")
)


@dataclass(frozen=True)
class ScoredModelAnswer(MarkedFactsMixin, RecordWithReason):
    """A model's answer to a question with its facts, and its score or a reason for none.

    Attributes
    ----------
    text : at most 1,500 characters. facts : facts that it states, with verdicts by the crowd's.
    """

    question: UUID
    question_name: str
    question_text: str
    status: str
    text: str
    score: float | None
    reason: str
    facts: list[StatedFact]


@dataclass(frozen=True)
class ModelReport:
    """A model's scores, and a page of its answers in the order of the questions.

    Attributes
    ----------
    contradictions : facts of the answers that contradict the crowd, at most 50.
    """

    about: RunAbout
    model: ModelRow
    contradictions: list[FactOnQuestion]
    answers: Page[ScoredModelAnswer]


def build_model_report(
    run: Run, model: UUID, after: str = "", size: int = PAGE
) -> ModelReport | None:
    """Return the report on a model; None if the run does not have it. Two queries.

    A run with facts takes two more.
    """
    row = read_model_row(run, model)
    if row is None:
        return None
    return ModelReport(
        about=build_run_about(run),
        model=row,
        contradictions=read_contradictions(run, "model", model),
        answers=_read_answers(run, model, after, size),
    )


def _read_answers(run: Run, model: UUID, after: str, size: int) -> Page[ScoredModelAnswer]:
    """Return one page of a model's answers with their facts."""
    rows = (
        LLMAnswerScore.objects.filter(run=run, llm_response__model__public_id=model)
        .order_by()
        .values(
            *("score", "reason", "llm_response_id"),
            *("llm_response__question__public_id", "llm_response__question__position"),
            name=F("llm_response__question__external_id"),
            status=F("llm_response__status"),
            question_text=select_beginning("llm_response__question__text"),
            text_shown=select_beginning("llm_response__text", ANSWER_SHOWN),
        )
    )
    page = MODEL_ORDER.load_page(rows, after, size, dict)
    _, facts = read_facts_of_answers(run, replies=[row["llm_response_id"] for row in page.rows])
    answers = [_build_answer(row, facts.get(row["llm_response_id"], [])) for row in page.rows]
    return Page(answers, page.after, page.next)


def _build_answer(row: dict[str, Any], facts: list[StatedFact]) -> ScoredModelAnswer:
    """Return a model's answer with its facts, from a database row."""
    return ScoredModelAnswer(
        question=row["llm_response__question__public_id"],
        question_name=row["name"],
        question_text=shorten_text(row["question_text"], EXCERPT_SHOWN),
        status=row["status"],
        text=shorten_text(row["text_shown"], ANSWER_SHOWN),
        score=row["score"],
        reason=row["reason"],
        facts=facts,
    )


def build_leader_verdict(models: Sequence[ModelRow], pairs: Sequence[ModelPair]) -> Message:
    """Return the message on which models score significantly lower than the best one.

    Parameters
    ----------
    models : by score, best first. pairs : every pair that was compared.
    """
    ranked = [model for model in models if model.rank is not None and model.score.value is not None]
    if not models:
        return Message("comparison.no_models")
    if not ranked:
        return Message("comparison.no_rank", {"models": len(models)})
    leader = ranked[0]
    own_pairs = [
        pair if pair.first == leader.model else pair.reverse_models()
        for pair in pairs
        if leader.model in (pair.first, pair.second) and pair.adjusted_p_value is not None
    ]
    if len(ranked) > 1 and not pairs:
        return Message("comparison.not_recorded", {"models": len(models)})
    if not own_pairs:
        return Message(
            "comparison.only_model", {"leader": leader.name, "score": leader.score.value}
        )
    position = {model.model: index for index, model in enumerate(ranked)}
    own_pairs.sort(key=lambda pair: position.get(pair.second, len(position)))
    values: dict[str, Any] = {"leader": leader.name}
    behind = [pair for pair in own_pairs if pair.better and (pair.difference.value or 0) > 0]
    alike = [pair for pair in own_pairs if not pair.better]
    if len(behind) + len(alike) < len(own_pairs):
        # Means over different questions may put a model first that pairs do not.
        ahead = [pair.second_name for pair in own_pairs if pair not in behind and pair not in alike]
        return Message("comparison.led_in_pairs", values | {"ahead": format_model_names(ahead)})
    if alike:
        values["alike"] = format_model_names([pair.second_name for pair in alike])
        values["smallest"] = max(pair.smallest_detectable or 0.0 for pair in alike)
    if not behind:
        return Message("comparison.leads_none", values)
    values |= {
        "behind": format_model_names([pair.second_name for pair in behind]),
        **_build_difference_values(behind[0]),
    }
    return Message("comparison.leads_some" if alike else "comparison.leads_all", values)


def build_pair_verdict(pair: ModelPair) -> Message:
    """Return the message on whether one of two models scores significantly higher."""
    value = pair.difference.value
    if value is None or pair.adjusted_p_value is None:
        return Message(
            "comparison.pair_undefined",
            {"first": pair.first_name, "second": pair.second_name, "reason": pair.reason},
        )
    better = pair if value >= 0 else pair.reverse_models()
    values = {
        "first": better.first_name,
        "second": better.second_name,
        "n": pair.n,
        "p": pair.adjusted_p_value,
        "smallest": pair.smallest_detectable,
        **_build_difference_values(better),
    }
    return Message("comparison.pair_apart" if pair.better else "comparison.pair_alike", values)


def _build_difference_values(pair: ModelPair) -> dict[str, Any]:
    """Return the second model's name, the difference and its interval, as message values."""
    difference = pair.difference
    return {
        "next": pair.second_name,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
    }
