"""Leaderboard of a question set, and tables of model comparisons for files.

Scores are comparable only if their exemplary answers are the same, so the ranks are those of one
run. The leaderboard also lists scores of other runs, each marked whether its exemplary answers are
the same. Tables for files have all rows and unrounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Exists, OuterRef

from annotations.models import QuestionSet
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.estimates import HOLM
from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.significance import Correction
from evaluation.grading.results.report.against import ExemplarIdentity
from evaluation.grading.results.report.comparisons import SIGNIFICANT, ModelPair, read_pairs
from evaluation.grading.results.report.models import (
    ModelRow,
    build_first_model_rows,
    build_leader_verdict,
)
from evaluation.grading.results.report.run import Ceiling
from evaluation.model_comparison.report.pair import build_pair_detail
from evaluation.model_comparison.report.scores import (
    NOTHING,
    Costs,
    Relation,
    ScoreTable,
    build_group_tables,
    iterate_related_models,
    load_costs,
)
from evaluation.models import LanguageModel, LLMResponse, LLMScore, Run, RunOfRecord
from evaluation.models.runs import GRADING
from evaluation.runs.reports.about import RunAbout, build_run_about, build_run_titles
from evaluation.runs.reports.lists import Table

# Models of a leaderboard, and runs beside it.
MODELS_SHOWN = 200
RUNS_SHOWN = 8


@dataclass(frozen=True)
class LeaderboardRow:
    """A model on the leaderboard, with score, interval and rank.

    Attributes
    ----------
    standing : score with interval, percentile among workers, n and n_answered, as in the run.
    rank : 1 + `n_better`, the number of significantly better models; None if no comparison was
        possible. n_worse : number of significantly worse models. n_alike : number of models without
        a significant difference.
    """

    standing: ModelRow
    family: str
    version: str
    strategy: str
    rank: int | None
    n_better: int
    n_worse: int
    n_alike: int
    costs: Costs


@dataclass(frozen=True)
class RelatedPair:
    """Two versions of a model, or one model with two prompting strategies, and their difference.

    Difference is newer - older.
    """

    by: Relation
    pair: ModelPair


@dataclass(frozen=True)
class OtherRunScores:
    """Another run of the question set, with its scores of the leaderboard's models.

    Attributes
    ----------
    called : the run's name, else its options that differ from the defaults, else its date.
    same_exemplars : whether its scores are comparable with those of the leaderboard.
    scores : one for each row of the leaderboard; None if the run has no score of the model.
    """

    renamed_keys: ClassVar = {"called": "label"}

    run: UUID
    called: str
    version: int
    created_at: datetime
    same_exemplars: bool
    is_shown: bool
    scores: list[float | None]


@dataclass(frozen=True)
class LeaderboardReport:
    """Leaderboard of a run: at most 200 models by score, best first.

    Attributes
    ----------
    about : the run whose exemplary answers the models are compared with.
    verdict : which models are better, as a message. correction : of p for the number of pairs.
    n_pairs : pairs of models that were compared. runs : newest first, at most 8.
    unscored : models that answered questions of the version and are not in this run.
    """

    about: RunAbout
    correction: str
    verdict: Message
    models: list[LeaderboardRow]
    ceiling: Ceiling
    n_pairs: int
    related: list[RelatedPair]
    runs: list[OtherRunScores]
    unscored: list[str]

    @property
    def notices(self) -> list[str]:
        """Notices about the models, without duplicates."""
        notices = (row.standing.notice for row in self.models)
        return list(dict.fromkeys(notice for notice in notices if notice))


def list_comparable_runs(question_set: QuestionSet) -> list[Run]:
    """Return the runs of a set whose models can be compared, newest first, at most 50.

    Each with `is_of_record`, and `has_models`: whether it scored any.
    """
    return list(
        Run.objects.filter(
            version__question_set=question_set,
            kind=GRADING,
            state=Run.State.DONE,
            archived_at=None,
        )
        .select_related("version__question_set")
        # Exists, because a join would repeat a run for each of its scores.
        .annotate(
            is_of_record=Exists(RunOfRecord.objects.filter(run=OuterRef("pk"))),
            has_models=Exists(LLMScore.objects.filter(run=OuterRef("pk"))),
        )
        .order_by("-pk")[:50]
    )


def choose_leaderboard_run(runs: Sequence[Any]) -> Run | None:
    """Return the official run among `runs`, else the newest; None without any.

    Runs without a score of a model are used only if all runs have none.
    """
    some = [run for run in runs if run.has_models] or runs
    return next((run for run in some if run.is_of_record), some[0] if some else None)


def build_leaderboard(
    run: Run,
    correction: Correction = HOLM,
    runs: Sequence[Any] | None = None,
    standings: Sequence[LLMScore] | None = None,
    costs: Mapping[int, Costs] | None = None,
) -> LeaderboardReport:
    """Return the leaderboard of a finished run: its models by score, with ranks and costs.

    `runs` (of `list_comparable_runs`), `standings` (the run's scores, with their models) and
    `costs` (of
    `load_costs`) save queries if the caller has loaded them.
    """
    if standings is None:
        standings = list(LLMScore.objects.filter(run=run).select_related("model"))
    rows = build_first_model_rows(standings, MODELS_SHOWN)
    of_id = {standing.model.public_id: standing.model for standing in standings}
    pairs = read_pairs(run, correction)
    counts = _count_better_and_worse(pairs)
    costs = load_costs(run) if costs is None else costs
    shown = [
        _build_leaderboard_row(
            row, of_id[row.model], counts.get(row.model), costs.get(of_id[row.model].pk, NOTHING)
        )
        for row in rows
    ]
    return LeaderboardReport(
        about=build_run_about(run),
        correction=correction,
        verdict=build_leader_verdict([row.standing for row in shown], pairs),
        models=shown,
        ceiling=Ceiling.from_run(run),
        n_pairs=len(pairs),
        related=_build_related_pairs([of_id[row.model] for row in rows], pairs),
        runs=_load_run_scores(
            run, rows, list_comparable_runs(run.version.question_set) if runs is None else runs
        ),
        unscored=_list_unscored_models(run),
    )


def _build_leaderboard_row(
    row: ModelRow, model: LanguageModel, count: tuple[int, int, int] | None, costs: Costs
) -> LeaderboardRow:
    """Return a model's row: its score, its rank by the comparisons, and its costs."""
    better, worse, alike = count or (0, 0, 0)
    # Without a comparison the run's own rank is used: a single model has rank 1.
    rank = 1 + better if count else row.rank
    return LeaderboardRow(
        standing=row,
        family=model.family,
        version=model.version,
        strategy=model.strategy,
        rank=rank,
        n_better=better,
        n_worse=worse,
        n_alike=alike,
        costs=costs,
    )


def _count_better_and_worse(pairs: list[ModelPair]) -> dict[UUID, tuple[int, int, int]]:
    """Return, by model, how many others are better, worse, and not distinguishable."""
    counts: dict[UUID, list[int]] = {}
    for pair in pairs:
        p, value = pair.adjusted_p_value, pair.difference.value
        if p is None or value is None:
            continue
        first = counts.setdefault(pair.first, [0, 0, 0])
        second = counts.setdefault(pair.second, [0, 0, 0])
        if p >= SIGNIFICANT or value == 0:
            first[2] += 1
            second[2] += 1
            continue
        better, worse = (first, second) if value > 0 else (second, first)
        better[1] += 1
        worse[0] += 1
    return {model: (count[0], count[1], count[2]) for model, count in counts.items()}


def _build_related_pairs(models: list[LanguageModel], pairs: list[ModelPair]) -> list[RelatedPair]:
    """Return the compared pairs of models that differ in version or prompting strategy only."""
    # A pair is stored in one order of its models only.
    of_two = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    result = []
    for belonging in iterate_related_models(models):
        pair = of_two.get(frozenset((belonging.newer.public_id, belonging.older.public_id)))
        if pair is not None:
            newer_first = pair.first == belonging.newer.public_id
            result.append(RelatedPair(belonging.by, pair if newer_first else pair.reverse_models()))
    return result


def _load_run_scores(run: Run, rows: list[ModelRow], runs: Sequence[Any]) -> list[OtherRunScores]:
    """Return the models' scores in the question set's newest runs, the leaderboard's included."""
    newest = [other for other in runs if other.has_models]
    others = newest[:RUNS_SHOWN]
    if run.pk not in {other.pk for other in others}:
        # The leaderboard's own run is shown, even if it is older than the others.
        others = [*others[: RUNS_SHOWN - 1], run]
    scored = LLMScore.objects.filter(run__in=others).values_list(
        "run_id", "model__public_id", "score"
    )
    scores = {(of_run, model): score for of_run, model, score in scored}
    names = build_run_titles([(other, AqerParameters) for other in others])
    exemplars = dict(zip(others, ExemplarIdentity.from_runs(*others), strict=True))
    return [
        OtherRunScores(
            run=other.public_id,
            called=name.title,
            version=other.version.number,
            created_at=other.created_at,
            same_exemplars=exemplars[run].has_equal_scores(exemplars[other]),
            is_shown=other.pk == run.pk,
            scores=[scores.get((other.pk, row.model)) for row in rows],
        )
        for other, name in zip(others, names, strict=True)
    ]


def _list_unscored_models(run: Run) -> list[str]:
    """Return the names of models that answered questions of the version but have no score."""
    # Sample 0 is the answer that is graded.
    answered = LLMResponse.objects.filter(
        model=OuterRef("pk"), question__version=run.version_id, sample=0
    )
    scored = LLMScore.objects.filter(model=OuterRef("pk"), run=run)
    models = LanguageModel.objects.filter(Exists(answered)).exclude(Exists(scored))
    return list(models.order_by("name").values_list("name", flat=True)[:MODELS_SHOWN])


LEADERBOARD = (
    *("rank", "model", "family", "version", "strategy", "score", "score_low", "score_high"),
    *("score_answered", "n", "n_answered", "percentile", "human_ceiling"),
    *("n_better", "n_worse", "n_alike", "seconds", "cost", "total_cost", "tokens", "reason"),
    *("fact_questions", "fact_contradicted"),
)
GROUPS = ("by", "group", "model", "score", "score_low", "score_high", "n", "small")
PAIR_GROUPS = (
    *("by", "group", "n", "small", "model_a", "score_a", "model_b", "score_b"),
    *("difference", "low", "high", "adjusted_p_value", "smallest_detectable", "reason"),
)


def build_leaderboard_table(run: Run) -> Table:
    """Return the leaderboard table: one row per model; cost, time and tokens per answer."""
    report = build_leaderboard(run)
    ceiling = report.ceiling.score.value
    return Table(LEADERBOARD, (_build_leaderboard_cells(row, ceiling) for row in report.models))


def _build_leaderboard_cells(row: LeaderboardRow, ceiling: float | None) -> tuple[object, ...]:
    """Return the cells of a model's row in the leaderboard table."""
    standing, costs = row.standing, row.costs
    return (
        *(row.rank, standing.name, row.family, row.version, row.strategy),
        *(standing.score.value, standing.score.low, standing.score.high),
        *(standing.score_answered, standing.n, standing.n_answered, standing.percentile, ceiling),
        *(row.n_better, row.n_worse, row.n_alike),
        *(costs.seconds, costs.cost, costs.total_cost, costs.tokens),
        standing.reason or costs.reason,
        *(standing.facts.questions, standing.facts.contradicted),
    )


def build_groups_table(run: Run) -> Table:
    """Return the table of groups: one row per question group and model, with the mean score."""
    return Table(GROUPS, _iterate_group_rows(run))


def _iterate_group_rows(run: Run) -> Iterable[tuple[object, ...]]:
    """Yield a table row for each question group and model, with the mean score."""
    for table in build_group_tables(ScoreTable.from_run(run)):
        for group in table.groups:
            for model in group.models:
                score = model.score
                yield (
                    *(table.by, group.name, model.name, score.value, score.low, score.high),
                    *(model.n, group.is_small),
                )


def build_pair_groups_table(run: Run, first: UUID, second: UUID) -> Table:
    """Return the table of two models' differences, one row per question group."""
    return Table(PAIR_GROUPS, _iterate_pair_rows(run, first, second))


def _iterate_pair_rows(run: Run, first: UUID, second: UUID) -> Iterable[tuple[object, ...]]:
    """Yield a table row for each question group with the difference of two models."""
    pair_report = build_pair_detail(run, first, second)
    if pair_report is None:
        return
    detail = pair_report[0]
    for grouping in detail.groupings:
        for group in grouping.groups:
            apart = group.difference
            yield (
                *(grouping.by, group.name, group.n, group.is_small),
                *(detail.pair.first_name, group.first.value),
                *(detail.pair.second_name, group.second.value),
                *(apart.value, apart.low, apart.high, group.adjusted_p_value),
                *(group.smallest_detectable, group.reason),
            )
