"""Report of a run's language models by score, and the workers' scores beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import quantiles
from typing import Any
from uuid import UUID

from django.db.models import Count, Window

from annotations.web.paging import Keyset, Page
from evaluation.core.messages.reasons import Reasoned
from evaluation.core.stats.inference.estimate import NO_ESTIMATE, Estimate
from evaluation.grading.facts.report.standing import COUNTED, NO_FACTS, FactStanding, build_standing
from evaluation.grading.results.report.run import Ceiling
from evaluation.models import LLMScore, Run, WorkerGrade
from evaluation.runs.reports.about import RunAbout, build_about

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
class ModelRow(Reasoned):
    """A language model's score, percentile, rank and facts in a run.

    Attributes
    ----------
    score : mean similarity of its answers to the exemplary ones; an answer without a text counts
        as the run's method says. score_answered : the mean over the answers with a text.
    n, n_answered : questions it was scored on, and those with a text.
    percentile : 0 to 100, share of workers that score lower on the questions it answered.
    rank : 1 + the number of models that are better by more than chance.
    reason : code of why a number is None; "" if none is.
    details : what is known of it (family, version, size, tuning, strategy), in that order.
    facts : how the facts of its answers stand to what the crowd agrees on; in no score.
    contrast : question contrast, agreement less that with the consensus of other questions.
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
    facts: FactStanding = NO_FACTS
    contrast: Estimate = NO_ESTIMATE


@dataclass(frozen=True)
class CrowdScores:
    """Leave-one-out scores of the workers with enough answers, ascending."""

    scores: list[float]

    @property
    def n(self) -> int:
        """Number of workers with a score."""
        return len(self.scores)

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """First quartile, median and third quartile of the scores; None below 2 workers."""
        if self.n < 2:
            return None
        low, middle, high = quantiles(self.scores, n=4, method="inclusive")
        return low, middle, high

    def bins(self, count: int = 24) -> list[tuple[float, float, int]]:
        """Return the scores' histogram: (from, to, number of workers) of `count` equal bins."""
        if not self.scores:
            return []
        low, high = self.scores[0], self.scores[-1]
        width = (high - low) / count
        if width <= 0:
            return [(low, high, self.n)]
        sizes = [0] * count
        for score in self.scores:
            sizes[min(int((score - low) / width), count - 1)] += 1
        return [(low + i * width, low + (i + 1) * width, size) for i, size in enumerate(sizes)]


@dataclass(frozen=True)
class ModelsReport:
    """A page of a run's models by score, with the human ceiling and the workers' scores."""

    about: RunAbout
    models: Page[ModelRow]
    ceiling: Ceiling
    crowd: CrowdScores

    @property
    def notices(self) -> list[str]:
        """The notices that the models require to be shown, without repetitions."""
        return list(dict.fromkeys(model.notice for model in self.models.rows if model.notice))


def build_models_report(
    run: Run, after: str = "", size: int = MODELS_PAGE, models: Page[ModelRow] | None = None
) -> ModelsReport:
    """Return the report on a run's language models; `models` is their page, if known.

    `models` is the page of them, where it is known.
    """
    scores = WorkerGrade.of_crowd(run).filter(support=True)
    left_out = scores.order_by().values_list("leave_one_out", flat=True)
    known_scores = [score for score in left_out if score is not None]
    return ModelsReport(
        about=build_about(run),
        models=read_model_rows(run, after, size) if models is None else models,
        ceiling=Ceiling.of_run(run),
        crowd=CrowdScores(sorted(known_scores)),
    )


def read_model_rows(
    run: Run, after: str = "", size: int = MODELS_PAGE, *, counted: bool = False
) -> Page[ModelRow]:
    """Return a page of models by score, unscored last; with `counted`, also their number."""
    rows = LLMScore.objects.filter(run=run).order_by().values(*COLUMNS)
    if not counted:
        return ORDER.take(rows, after, size, build_model_row)
    count = 0

    def build_counted_row(row: dict[str, Any]) -> ModelRow:
        nonlocal count
        count = row["n_models"]
        return build_model_row(row)

    page = ORDER.take(rows.annotate(n_models=Window(Count("pk"))), after, size, build_counted_row)
    return replace(page, count=count)


def build_first_rows(scores: Iterable[LLMScore], size: int = MODELS_PAGE) -> list[ModelRow]:
    """Return the first page of models by score, from scores already read with their models."""

    def find_place(one: LLMScore) -> tuple[bool, float, UUID]:
        return one.score is None, -(one.score or 0.0), one.model.public_id

    values = attrgetter(*(column.replace("__", ".") for column in COLUMNS))
    first = sorted(scores, key=find_place)[:size]
    return [build_model_row(dict(zip(COLUMNS, values(one), strict=True))) for one in first]


def read_model_row(run: Run, model: UUID) -> ModelRow | None:
    """Return a model's score and rank in a run; None if the run has no such model."""
    rows = LLMScore.objects.filter(run=run, model__public_id=model).order_by().values(*COLUMNS)
    row = rows.first()
    return None if row is None else build_model_row(row)


def build_model_row(row: dict[str, Any]) -> ModelRow:
    """Convert a database row with the `COLUMNS` to a model's row of the report."""
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
        facts=build_standing(row),
        contrast=Estimate(row["contrast"], row["contrast_low"], row["contrast_high"]),
    )
