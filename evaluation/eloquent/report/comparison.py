"""Comparison of models by similarity of replies, and items on which two models differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.stats.inference.comparison import Comparison
from evaluation.core.stats.inference.significance import Correction
from evaluation.eloquent.report.results import SetTexts, build_set_texts, load_findings_with_people
from evaluation.eloquent.run.findings import Findings, SetRow
from evaluation.eloquent.run.metrics import (
    ACROSS,
    HEADER,
    LANGUAGE_RANGE,
    SCORE,
    SIMILARITY_ACROSS,
    ComparedGroup,
    build_comparison_rows,
    compare_groups,
)
from evaluation.eloquent.storage import load_parameters
from evaluation.models import Run
from evaluation.runs.reports.lists import Table

# Items with texts on a page.
ITEMS_SHOWN = 10
ALPHA = 0.05


@dataclass(frozen=True)
class Verdict:
    """Comparison of two models in a group, better one first; `apart` if clearly different."""

    better: str
    other: str
    apart: bool
    found: Comparison

    @property
    def difference(self) -> float | None:
        """Absolute difference of the two models' means; None if undefined."""
        return None if self.found.difference is None else abs(self.found.difference)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Lower and upper end of the interval of `difference`; None without one."""
        low, high = self.found.low, self.found.high
        if low is None or high is None:
            return None
        # With the models exchanged, the signs and the order of the ends change.
        return (low, high) if (self.found.difference or 0) >= 0 else (-high, -low)


@dataclass(frozen=True)
class Standing:
    """A model's rank by significance and its mean score in one group of items."""

    system: str
    rank: int | None
    mean: float | None


@dataclass(frozen=True)
class ReportedGroup:
    """A group of items with its model ranks and pairwise comparisons, for readers."""

    title: str
    ahead: str
    found: ComparedGroup
    standings: list[Standing]
    verdicts: list[Verdict]


@dataclass(frozen=True)
class ComparedReport:
    """Model comparisons over all items, by variation, by language, and across languages."""

    systems: tuple[str, ...]
    judged: bool
    whole: ReportedGroup | None
    variations: list[ReportedGroup]
    languages: list[ReportedGroup]
    across: list[ReportedGroup]


def build_comparison_report(findings: Findings, groups: Sequence[ComparedGroup]) -> ComparedReport:
    """Return the report of model comparisons, by kind of item group."""
    group_rows = [_build_shown_group(findings.systems, group) for group in groups]

    def select(kind: str) -> list[ReportedGroup]:
        return [group for group in group_rows if group.found.kind == kind]

    whole = select("")
    return ComparedReport(
        findings.systems,
        any(group.measure == SCORE for group in groups),
        whole[0] if whole else None,
        select("variation"),
        select("language"),
        select(ACROSS),
    )


def compare_run_groups(
    run: Run, findings: Findings, correction: Correction = "holm"
) -> list[ComparedGroup]:
    """Return the comparisons of a run's models in all groups of items."""
    return compare_groups(findings, load_parameters(run).evaluation(), correction)


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


def _build_shown_group(systems: Sequence[str], group: ComparedGroup) -> ReportedGroup:
    lower_wins = group.measure == LANGUAGE_RANGE
    verdicts = []
    for comparison in group.comparisons:
        more = (comparison.difference or 0) >= 0
        # A higher mean is better, except for the range over languages.
        better, other = (comparison.model_a, comparison.model_b)[:: 1 if more != lower_wins else -1]
        apart = comparison.adjusted_p_value is not None and comparison.adjusted_p_value < ALPHA
        verdicts.append(Verdict(better, other, apart and bool(comparison.difference), comparison))
    title, ahead = MEASURE_PHRASES.get(group.measure, (group.name, "has more similar replies"))
    standings = [
        Standing(system, rank, mean)
        for system, rank, mean in zip(systems, group.ranks, group.means, strict=True)
    ]
    return ReportedGroup(title, ahead, group, standings, verdicts)


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
        if row.system in (first, second) and _select_number(row, judged=judged) is not None:
            rows.setdefault((row.item, row.language), {})[row.system] = row
    both = [(of[first], of[second]) for of in rows.values() if len(of) == 2]

    def apart(pair: tuple[SetRow, SetRow]) -> float:
        one, other = (_select_number(row, judged=judged) or 0.0 for row in pair)
        return -abs(one - other)

    both.sort(key=apart)
    page = both[start : start + most]
    texts = build_set_texts(findings, [row for pair in page for row in pair])
    items = [
        ItemDifference(
            one.item,
            one.language,
            one.variation,
            _select_number(one, judged=judged) or 0.0,
            _select_number(other, judged=judged) or 0.0,
            texts[one.key],
            texts[other.key],
        )
        for one, other in page
    ]
    after = start + most
    return DifferencesPage(
        first, second, len(both), items, start, after if after < len(both) else None
    )


def _select_number(row: SetRow, *, judged: bool) -> float | None:
    return row.score if judged else row.similarity


def build_comparisons_table(run: Run) -> Table:
    """Return the table of model comparisons in all groups, p-values corrected by Holm."""
    return Table(
        HEADER, build_comparison_rows(compare_run_groups(run, load_findings_with_people(run)))
    )
