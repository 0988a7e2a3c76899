"""Comparison of models by similarity of replies, and items on which two models differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.stats.inference.comparison import Comparison
from evaluation.core.stats.inference.significance import Correction
from evaluation.eloquent.report.results import SetTexts, build_set_texts, load_findings_with_experts
from evaluation.eloquent.run.findings import Findings, SetRow
from evaluation.eloquent.run.metrics import (
    ACROSS,
    HEADER,
    LANGUAGE_RANGE,
    SCORE,
    SIMILARITY_ACROSS,
    GroupComparison,
    build_comparison_rows,
    compare_systems_by_group,
)
from evaluation.eloquent.storage import load_parameters
from evaluation.models import Run
from evaluation.runs.reports.lists import Table

# Items with texts on a page.
ITEMS_SHOWN = 10
ALPHA = 0.05


@dataclass(frozen=True)
class PairVerdict:
    """Comparison of two models in a group of items, the better model first.

    `apart` is whether they differ significantly after the correction.
    """

    better: str
    other: str
    apart: bool
    found: Comparison

    @property
    def difference(self) -> float | None:
        """Absolute difference of the two models' means; None if undefined."""
        return None if self.found.difference is None else abs(self.found.difference)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Lower and upper end of the interval of `difference`; None without an interval."""
        low, high = self.found.low, self.found.high
        if low is None or high is None:
            return None
        # With the models exchanged, the signs and the order of the ends change.
        return (low, high) if (self.found.difference or 0) >= 0 else (-high, -low)


@dataclass(frozen=True)
class ModelRank:
    """A model's rank by significance and its mean score in one group of items."""

    system: str
    rank: int | None
    mean: float | None


@dataclass(frozen=True)
class GroupReport:
    """A group of items with the models' ranks and pairwise comparisons, for readers."""

    title: str
    ahead: str
    found: GroupComparison
    standings: list[ModelRank]
    verdicts: list[PairVerdict]


@dataclass(frozen=True)
class ComparisonReport:
    """Model comparisons over all items, by variation, by language, and across languages."""

    systems: tuple[str, ...]
    judged: bool
    whole: GroupReport | None
    variations: list[GroupReport]
    languages: list[GroupReport]
    across: list[GroupReport]


def build_comparison_report(
    findings: Findings, groups: Sequence[GroupComparison]
) -> ComparisonReport:
    """Return the report of model comparisons, by kind of item group."""
    group_rows = [_build_group_report(findings.systems, group) for group in groups]

    def select(kind: str) -> list[GroupReport]:
        return [group for group in group_rows if group.found.kind == kind]

    whole = select("")
    return ComparisonReport(
        findings.systems,
        any(group.measure == SCORE for group in groups),
        whole[0] if whole else None,
        select("variation"),
        select("language"),
        select(ACROSS),
    )


def compare_models_by_group(
    run: Run, findings: Findings, correction: Correction = "holm"
) -> list[GroupComparison]:
    """Return the comparison of a run's models in each group of items."""
    return compare_systems_by_group(
        findings, load_parameters(run).build_evaluation_parameters(), correction
    )


# Title and phrase about the better model, for measures across languages.
MEASURE_PHRASES = {
    LANGUAGE_RANGE: (
        "How far the scores of an item's languages lie apart",
        "is more even over languages",
    ),
    SIMILARITY_ACROSS: (
        "How near replies in different languages are",
        "has more similar replies over languages",
    ),
}


def _build_group_report(systems: Sequence[str], group: GroupComparison) -> GroupReport:
    """Return a group's comparisons for readers, with the better model of each pair first."""
    lower_wins = group.measure == LANGUAGE_RANGE
    verdicts = []
    for comparison in group.comparisons:
        more = (comparison.difference or 0) >= 0
        # A higher mean is better, except for the range over languages.
        better, other = (comparison.model_a, comparison.model_b)[:: 1 if more != lower_wins else -1]
        apart = comparison.adjusted_p_value is not None and comparison.adjusted_p_value < ALPHA
        verdicts.append(
            PairVerdict(better, other, apart and bool(comparison.difference), comparison)
        )
    title, ahead = MEASURE_PHRASES.get(group.measure, (group.name, "has more similar replies"))
    standings = [
        ModelRank(system, rank, mean)
        for system, rank, mean in zip(systems, group.ranks, group.means, strict=True)
    ]
    return GroupReport(title, ahead, group, standings, verdicts)


@dataclass(frozen=True)
class ItemDifference:
    """Scores and replies of two models on one item in one language."""

    item: str
    language: str
    variation: str
    first: float
    second: float
    of_first: SetTexts
    of_second: SetTexts

    @property
    def difference(self) -> float:
        """Score of the first model minus that of the second."""
        return self.first - self.second


@dataclass(frozen=True)
class DifferencesPage:
    """Page of items that two models were scored on, the largest difference first."""

    first: str
    second: str
    total: int
    items: list[ItemDifference]
    start: int
    next: int | None


def build_differences_page(
    findings: Findings, first: str, second: str, start: int = 0, most: int = ITEMS_SHOWN
) -> DifferencesPage:
    """Return a page of items on which two models' scores differ most, with replies."""
    judged = any(row.score is not None for row in findings.sets)
    rows: dict[tuple[str, str], dict[str, SetRow]] = {}
    for row in findings.sets:
        if (
            row.system in (first, second)
            and _select_score_or_similarity(row, judged=judged) is not None
        ):
            rows.setdefault((row.item, row.language), {})[row.system] = row
    both = [(of[first], of[second]) for of in rows.values() if len(of) == 2]

    def compute_sort_key(pair: tuple[SetRow, SetRow]) -> float:
        one, other = (_select_score_or_similarity(row, judged=judged) or 0.0 for row in pair)
        return -abs(one - other)

    both.sort(key=compute_sort_key)
    page = both[start : start + most]
    texts = build_set_texts(findings, [row for pair in page for row in pair])
    items = [
        ItemDifference(
            one.item,
            one.language,
            one.variation,
            _select_score_or_similarity(one, judged=judged) or 0.0,
            _select_score_or_similarity(other, judged=judged) or 0.0,
            texts[one.key],
            texts[other.key],
        )
        for one, other in page
    ]
    after = start + most
    return DifferencesPage(
        first, second, len(both), items, start, after if after < len(both) else None
    )


def _select_score_or_similarity(row: SetRow, *, judged: bool) -> float | None:
    """Return a reply set's score if judges scored replies (`judged`), else its similarity."""
    return row.score if judged else row.similarity


def build_comparisons_table(run: Run) -> Table:
    """Return the table of model comparisons in all groups, p-values corrected by Holm."""
    return Table(
        HEADER, build_comparison_rows(compare_models_by_group(run, load_findings_with_experts(run)))
    )
