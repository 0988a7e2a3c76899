"""Models compared by how alike their replies are, and the items on which two differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.flow.eloquent.comparing import (
    ACROSS,
    HEADER,
    LANGUAGE_RANGE,
    SCORE,
    SIMILARITY_ACROSS,
    ComparedGroup,
    compared_groups,
    comparison_rows,
)
from evaluation.flow.eloquent.found import Findings, SetRow
from evaluation.methods.inference.comparison import Comparison
from evaluation.methods.inference.corrections import Correction
from evaluation.models import Run
from evaluation.reports.eloquent.people import findings_with_people
from evaluation.reports.eloquent.texts import SetTexts, texts_of
from evaluation.reports.spreadsheet import Table
from evaluation.steps.eloquent.comparing import parameters_of

# Items with texts on a page.
ITEMS_SHOWN = 10
ALPHA = 0.05


@dataclass(frozen=True)
class Verdict:
    """Two models in one group, the better one first; `apart` says that a difference shows."""

    better: str
    other: str
    apart: bool
    found: Comparison

    @property
    def difference(self) -> float | None:
        """How far the better one is ahead."""
        return None if self.found.difference is None else abs(self.found.difference)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the interval of `difference`."""
        low, high = self.found.low, self.found.high
        if low is None or high is None:
            return None
        return (low, high) if (self.found.difference or 0) >= 0 else (-high, -low)


@dataclass(frozen=True)
class Standing:
    """A model in a group: its rank by significance, and its mean."""

    system: str
    rank: int | None
    mean: float | None


@dataclass(frozen=True)
class GroupShown:
    """A group with what there is to say of every two models; `ahead` is how the better one is."""

    title: str
    ahead: str
    found: ComparedGroup
    standings: list[Standing]
    verdicts: list[Verdict]


@dataclass(frozen=True)
class ComparedReport:
    """All groups: all items, kinds of variation, languages, and across languages."""

    systems: tuple[str, ...]
    judged: bool
    whole: GroupShown | None
    variations: list[GroupShown]
    languages: list[GroupShown]
    across: list[GroupShown]


def compared_report(findings: Findings, groups: Sequence[ComparedGroup]) -> ComparedReport:
    """Return groups as a page shows them."""
    shown = [_shown(findings.systems, group) for group in groups]

    def of(kind: str) -> list[GroupShown]:
        return [one for one in shown if one.found.kind == kind]

    whole = of("")
    return ComparedReport(
        findings.systems,
        any(group.measure == SCORE for group in groups),
        whole[0] if whole else None,
        of("variation"),
        of("language"),
        of(ACROSS),
    )


def groups_of(run: Run, findings: Findings, correction: Correction = "holm") -> list[ComparedGroup]:
    """Return the groups of a run in which its models are compared."""
    return compared_groups(findings, parameters_of(run).evaluation(), correction)


# Of what stands for several languages: its title, and how the better model is.
WORDS = {
    LANGUAGE_RANGE: (
        "How far the scores of an item's languages lie apart",
        "is more even over languages",
    ),
    SIMILARITY_ACROSS: (
        "How near replies in different languages are",
        "replies more alike over languages",
    ),
}


def _shown(systems: Sequence[str], group: ComparedGroup) -> GroupShown:
    lower_wins = group.measure == LANGUAGE_RANGE
    verdicts = []
    for one in group.comparisons:
        more = (one.difference or 0) >= 0
        better, other = (one.model_a, one.model_b)[:: 1 if more != lower_wins else -1]
        apart = one.adjusted_p_value is not None and one.adjusted_p_value < ALPHA
        verdicts.append(Verdict(better, other, apart and bool(one.difference), one))
    title, ahead = WORDS.get(group.measure, (group.name, "replies more alike"))
    standings = [
        Standing(system, rank, mean)
        for system, rank, mean in zip(systems, group.ranks, group.means, strict=True)
    ]
    return GroupShown(title, ahead, group, standings, verdicts)


@dataclass(frozen=True)
class ItemDifference:
    """An item in a language: the scores of two models, and the replies of both."""

    item: str
    language: str
    variation: str
    first: float
    second: float
    of_first: SetTexts
    of_second: SetTexts

    @property
    def difference(self) -> float:
        """The first less the second."""
        return self.first - self.second


@dataclass(frozen=True)
class DifferencesPage:
    """Items that two models were scored on, the largest difference first, from `start` on."""

    first: str
    second: str
    total: int
    items: list[ItemDifference]
    start: int
    next: int | None


def differences_page(
    findings: Findings, first: str, second: str, start: int = 0, most: int = ITEMS_SHOWN
) -> DifferencesPage:
    """Return a page of the items on which two models differ, with their texts."""
    judged = any(row.score is not None for row in findings.sets)
    rows: dict[tuple[str, str], dict[str, SetRow]] = {}
    for row in findings.sets:
        if row.system in (first, second) and _number(row, judged=judged) is not None:
            rows.setdefault((row.item, row.language), {})[row.system] = row
    both = [(of[first], of[second]) for of in rows.values() if len(of) == 2]

    def apart(pair: tuple[SetRow, SetRow]) -> float:
        one, other = (_number(row, judged=judged) or 0.0 for row in pair)
        return -abs(one - other)

    both.sort(key=apart)
    shown = both[start : start + most]
    texts = texts_of(findings, [row for pair in shown for row in pair])
    items = [
        ItemDifference(
            one.item,
            one.language,
            one.variation,
            _number(one, judged=judged) or 0.0,
            _number(other, judged=judged) or 0.0,
            texts[one.key],
            texts[other.key],
        )
        for one, other in shown
    ]
    after = start + most
    return DifferencesPage(
        first, second, len(both), items, start, after if after < len(both) else None
    )


def _number(row: SetRow, *, judged: bool) -> float | None:
    return row.score if judged else row.similarity


def comparisons_table(run: Run) -> Table:
    """Return every two models compared, in every group, after Holm's correction."""
    return Table(HEADER, comparison_rows(groups_of(run, findings_with_people(run))))
