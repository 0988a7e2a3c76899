"""Tables of model comparisons for files, with all rows and unrounded numbers."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from evaluation.model_comparison.report.groups import group_tables
from evaluation.model_comparison.report.leaderboard import LeaderRow, leaderboard_report
from evaluation.model_comparison.report.pair import pair_detail
from evaluation.model_comparison.report.scores import ScoreTable
from evaluation.models import Run
from evaluation.runs.reports.spreadsheet import Table

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


def leaderboard_table(run: Run) -> Table:
    """Return the leaderboard table: one row per model; cost, time and tokens per answer."""
    report = leaderboard_report(run)
    ceiling = report.ceiling.score.value
    return Table(LEADERBOARD, (_leader(row, ceiling) for row in report.models))


def _leader(row: LeaderRow, ceiling: float | None) -> tuple[object, ...]:
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


def groups_table(run: Run) -> Table:
    """Return the table of groups: one row per question group and model, with the mean score."""
    return Table(GROUPS, _group_rows(run))


def _group_rows(run: Run) -> Iterable[tuple[object, ...]]:
    for table in group_tables(ScoreTable.of(run)):
        for group in table.groups:
            for model in group.models:
                score = model.score
                yield (
                    *(table.by, group.name, model.name, score.value, score.low, score.high),
                    *(model.n, group.is_small),
                )


def pair_groups_table(run: Run, first: UUID, second: UUID) -> Table:
    """Return the table of two models' differences, one row per question group."""
    return Table(PAIR_GROUPS, _pair_rows(run, first, second))


def _pair_rows(run: Run, first: UUID, second: UUID) -> Iterable[tuple[object, ...]]:
    found = pair_detail(run, first, second)
    if found is None:
        return
    detail = found[0]
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
