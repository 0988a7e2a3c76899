"""Rows of metrics.csv, and paired comparisons of systems on the same items.

Sums, means and similarities of systems are computed overall and by group. Systems are compared
overall, by variation, by language and across languages (methods section 6). Comparisons are paired
by item: the mean over the languages in which all systems have a value. Intervals and p-values are
by items. p-values are corrected over all pairs of all groups of one kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.stats.cells import Floats, convert_nan_to_none, divide_where_positive
from evaluation.core.stats.inference.clustered import compute_drawn_intervals
from evaluation.core.stats.inference.comparison import (
    Comparison,
    compare_models,
    rank_by_significance,
)
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.inference.significance import CORRECTIONS, Correction
from evaluation.eloquent.methods import rank_systems_by_sum
from evaluation.eloquent.options import EloquentParameters
from evaluation.eloquent.run.findings import Findings, ItemRow, SetRow
from evaluation.eloquent.run.judging import Judgement
from evaluation.runs.flow.metrics import OVERALL, MetricRow, build_group_name

ALL_SYSTEMS = ""
NO_SCORE = "no_score"
NO_REPLY = "no_reply"
FEWER_THAN_2_VARIANTS = "fewer_than_2_variants"
ONE_LANGUAGE = "one_language"
NOT_JUDGED_TWICE = "not_judged_twice"

Number = Callable[[SetRow], float | None]


def build_metric_rows(
    systems: Sequence[str],
    sets: Sequence[SetRow],
    items: Sequence[ItemRow],
    judgements: Sequence[Judgement],
    parameters: EloquentParameters,
) -> Iterator[MetricRow]:
    """Yield the rows of metrics.csv: overall, by variation, language, item, and judge.

    `sum`, `mean` and `n` are over sets of replies (an item, a system, a language); `average` is the
    mean over systems. Intervals are by items.
    """
    if not systems:
        return
    yield from _build_group_rows(systems, sets, OVERALL, parameters)
    yield from _build_rank_rows(systems, sets)
    yield from _build_further_rows(systems, sets, items, parameters)
    yield from _build_average_row(systems, sets, OVERALL)
    for key, groups in (
        ("variation", _group_sets(sets, lambda row: row.variation)),
        ("language", _group_sets(sets, lambda row: row.language)),
        ("item", _group_sets(sets, lambda row: row.item)),
    ):
        for name, members in groups.items():
            group = build_group_name(key, name)
            yield from _build_group_rows(systems, members, group, parameters)
            yield from _build_average_row(systems, members, group)
    yield from _build_judge_rows(judgements)


def _group_sets(sets: Sequence[SetRow], name: Callable[[SetRow], str]) -> dict[str, list[SetRow]]:
    """Return the reply sets by the group that `name` returns for each, without the group ""."""
    groups: dict[str, list[SetRow]] = defaultdict(list)
    for row in sets:
        if name(row):
            groups[name(row)].append(row)
    return groups


def _build_group_rows(
    systems: Sequence[str], sets: Sequence[SetRow], group: str, parameters: EloquentParameters
) -> Iterator[MetricRow]:
    """Yield each system's sum, mean, n and similarity over the reply sets of a group."""
    scores = estimate_system_means(systems, sets, lambda row: row.score, parameters)
    similarity = estimate_system_means(systems, sets, lambda row: row.similarity, parameters)
    answered = estimate_system_means(systems, sets, lambda row: row.similarity_answered, parameters)
    for index, system in enumerate(systems):
        known = [row.score for row in sets if row.system == system and row.score is not None]
        n = len(known)
        why = None if n else _explain_missing_score(sets)
        total = float(np.sum(known)) if n else None
        yield MetricRow(system, group, "sum", total, None, None, n, why)
        mean = MetricRow.from_estimate(system, group, "mean", scores[index])
        yield mean if n else mean._replace(reason=why)
        yield MetricRow(system, group, "n", float(n), None, None, n, None)
        if any(row.n_replies for row in sets if row.system == system):
            yield MetricRow.from_estimate(system, group, "similarity", similarity[index])
            yield MetricRow.from_estimate(system, group, "similarity_answered", answered[index])


def _explain_missing_score(sets: Sequence[SetRow]) -> str:
    """Return the reason code why a group of reply sets has no scores."""
    return NO_SCORE if any(row.n_prompts > 1 for row in sets) else FEWER_THAN_2_VARIANTS


def estimate_system_means(
    systems: Sequence[str], sets: Sequence[SetRow], number: Number, parameters: EloquentParameters
) -> list[SampleEstimate]:
    """Return each system's mean over its replies to items, with a bootstrap interval.

    `n` is the number of sets with a value; an interval needs 2 items.
    """
    items = {name: index for index, name in enumerate(dict.fromkeys(row.item for row in sets))}
    system_codes = {system: index for index, system in enumerate(systems)}
    # Sums and counts by item, because the bootstrap draws items. Their ratio weights sets equally:
    # an item in more languages counts more.
    totals, counts = np.zeros((2, len(systems), len(items)))
    for row in sets:
        value = number(row)
        if value is not None:
            totals[system_codes[row.system], items[row.item]] += value
            counts[system_codes[row.system], items[row.item]] += 1

    def statistic(weights: Floats) -> Floats:
        # An item is drawn with all its sets, which are not independent of each other.
        return divide_where_positive(totals @ weights.T, counts @ weights.T)

    intervals = compute_drawn_intervals(
        divide_where_positive(totals.sum(axis=1), counts.sum(axis=1)),
        np.count_nonzero(counts, axis=1),
        statistic,
        len(items),
        parameters.bootstrap,
        parameters.seed,
    )
    sizes = counts.sum(axis=1).astype(int)
    return [
        SampleEstimate(
            interval.value,
            interval.low,
            interval.high,
            int(n),
            NO_SCORE if interval.value is None else interval.reason,
        )
        for interval, n in zip(intervals, sizes, strict=True)
    ]


def _build_rank_rows(systems: Sequence[str], sets: Sequence[SetRow]) -> Iterator[MetricRow]:
    """Yield each system's rank by its sum of scores, or the reason why it has none."""
    scored = [
        {
            (row.item, row.language): row.score
            for row in sets
            if row.system == system and row.score is not None
        }
        for system in systems
    ]
    for system, scores, (rank, reason) in zip(
        systems, scored, rank_systems_by_sum(scored), strict=True
    ):
        value = None if rank is None else float(rank)
        yield MetricRow(system, OVERALL, "rank", value, None, None, len(scores), reason)


def _build_further_rows(
    systems: Sequence[str],
    sets: Sequence[SetRow],
    items: Sequence[ItemRow],
    parameters: EloquentParameters,
) -> Iterator[MetricRow]:
    """Yield each system's spread of repeats, experts' mean, language metrics, no-answer rate."""
    spread = estimate_system_means(systems, sets, lambda row: row.spread, parameters)
    human = estimate_system_means(systems, sets, lambda row: row.human_score, parameters)
    for index, system in enumerate(systems):
        yield _build_overall_row(system, "spread", spread[index], NOT_JUDGED_TWICE)
        if human[index].value is not None:
            yield MetricRow.from_estimate(system, OVERALL, "human_mean", human[index])
        own = [row for row in items if row.system == system]
        for name in ("language_range", "similarity_across_languages"):
            known = [v for v in (getattr(row, name) for row in own) if v is not None]
            mean = float(np.mean(known)) if known else None
            why = None if known else ONE_LANGUAGE
            yield MetricRow(system, OVERALL, name, mean, None, None, len(known), why)
        n = sum(row.n_replies for row in own)
        share = sum(row.n_no_answer for row in own) / n if n else None
        why = None if n else NO_REPLY
        yield MetricRow(system, OVERALL, "no_answer_rate", share, None, None, n, why)


def _build_overall_row(
    system: str, metric: str, estimate: SampleEstimate, undefined: str
) -> MetricRow:
    """Return the row of an estimate over all items; `undefined` is the reason without a value."""
    row = MetricRow.from_estimate(system, OVERALL, metric, estimate)
    return row._replace(reason=undefined) if row.value is None else row


def _build_average_row(
    systems: Sequence[str], sets: Sequence[SetRow], group: str
) -> Iterator[MetricRow]:
    """Yield the average of the systems' means in a group (last column of paper's Table 2)."""
    means = []
    for system in systems:
        known = [row.score for row in sets if row.system == system and row.score is not None]
        if known:
            means.append(float(np.mean(known)))
    value = float(np.mean(means)) if means else None
    why = None if means else _explain_missing_score(sets)
    yield MetricRow(ALL_SYSTEMS, group, "average", value, None, None, len(means), why)


def _build_judge_rows(judgements: Sequence[Judgement]) -> Iterator[MetricRow]:
    """Yield sum, mean and n of each judge's scores; repeats of a set are averaged."""
    scores: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for judgement in judgements:
        system_scores = scores[judgement.judge, judgement.system]
        if judgement.score is not None:
            system_scores[judgement.item, judgement.language].append(judgement.score)
    for (judge, system), sets in scores.items():
        means = [float(np.mean(repeats)) for repeats in sets.values()]
        group, n = build_group_name("judge", judge), len(means)
        why = None if n else NO_SCORE
        total = sum(means) if n else None
        yield MetricRow(system, group, "sum", total, None, None, n, why)
        mean = float(np.mean(means)) if n else None
        yield MetricRow(system, group, "mean", mean, None, None, n, why)
        yield MetricRow(system, group, "n", float(n), None, None, n, None)


SCORE, SIMILARITY = "score", "similarity"
ACROSS = "across"
LANGUAGE_RANGE, SIMILARITY_ACROSS = "language_range", "similarity_across_languages"
HEADER = (
    *("group", "measure", "model_a", "model_b", "difference", "low", "high", "p_value"),
    *("adjusted_p_value", "smallest_detectable", "n", "test", "correction", "reason"),
)


@dataclass(frozen=True)
class GroupComparison:
    """Comparison of all systems on one group of items, such as one language.

    Attributes
    ----------
    kind : "" for all items, "variation", "language", or "across" for values across languages.
    measure : score, similarity, language_range or similarity_across_languages. A lower
        language_range is better.
    n_items : number of items with a value of every system.
    means : mean of each system over these items.
    ranks : 1 + number of significantly better systems; None without a comparison.
    """

    kind: str
    name: str
    measure: str
    n_items: int
    means: tuple[float | None, ...]
    comparisons: tuple[Comparison, ...]
    ranks: tuple[int | None, ...]

    @property
    def group(self) -> str:
        """Name of the group of items in tables."""
        if not self.kind:
            return OVERALL
        return ACROSS if self.kind == ACROSS else build_group_name(self.kind, self.name)


def pair_values_by_item(
    systems: Sequence[str], rows: Iterable[tuple[str, str, str, float | None]]
) -> dict[str, Floats]:
    """Return each item's values, one per system: means over the languages that all systems have.

    `rows` are item, language, system and value.
    """
    values: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for item, language, system, value in rows:
        if value is not None:
            values[item, language][system] = value
    parts: dict[str, list[Floats]] = defaultdict(list)
    for (item, _), set_values in values.items():
        # Means over different languages would compare the languages, not the systems.
        if len(set_values) == len(systems):
            parts[item].append(np.array([set_values[system] for system in systems]))
    return {item: np.asarray(np.mean(item_values, axis=0)) for item, item_values in parts.items()}


def compare_systems(
    systems: Sequence[str],
    items: dict[str, Floats],
    parameters: EloquentParameters,
    correction: Correction = "holm",
) -> list[Comparison]:
    """Return the comparison of every pair of systems; [] with one system or without items."""
    if len(systems) < 2 or not items:
        return []
    table = np.stack(list(items.values()), axis=1)
    return compare_models(table, systems, correction, parameters.bootstrap, parameters.seed)


def compare_systems_by_group(
    findings: Findings, parameters: EloquentParameters, correction: Correction = "holm"
) -> list[GroupComparison]:
    """Return the comparisons of the systems in all groups, by judges' score or else similarity.

    All items come first, then variations, languages, and values across languages. A kind with a
    single group is left out, because it equals all items. [] for fewer than 2 systems.
    """
    if len(findings.systems) < 2:
        return []
    judged = any(row.score is not None for row in findings.sets)
    measure = SCORE if judged else SIMILARITY
    sets = findings.sets
    compared = [
        _compare_systems_in_group(
            findings, "", "", measure, _list_set_values(sets, measure), parameters, correction
        )
    ]
    for kind, get_name in KINDS.items():
        names = [name for name in dict.fromkeys(map(get_name, sets)) if name]
        groups = [
            _compare_systems_in_group(
                findings,
                kind,
                name,
                measure,
                _list_set_values([row for row in sets if get_name(row) == name], measure),
                parameters,
                correction,
            )
            for name in names
        ]
        groups = [group for group in groups if group.n_items]
        compared += _correct_p_values_over_groups(groups, correction) if len(groups) > 1 else []
    across = [
        _compare_systems_in_group(
            findings,
            ACROSS,
            "",
            name,
            _list_item_values(findings.items, name),
            parameters,
            correction,
        )
        for name in ((LANGUAGE_RANGE,) if judged else ()) + (SIMILARITY_ACROSS,)
    ]
    return compared + [group for group in across if group.n_items]


def build_comparison_rows(groups: Iterable[GroupComparison]) -> Iterator[tuple[object, ...]]:
    """Yield a row of table cells for each comparison, in the order of `HEADER`."""
    for group in groups:
        for comparison in group.comparisons:
            cells = (getattr(comparison, name) for name in HEADER[2:])
            yield (group.group or None, group.measure, *cells)


KINDS: dict[str, Callable[[SetRow], str]] = {
    "variation": lambda row: row.variation,
    "language": lambda row: row.language,
}


def _list_set_values(
    rows: Iterable[SetRow], measure: str
) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield (item, language, system, value of `measure`) for each reply set."""
    for row in rows:
        yield row.item, row.language, row.system, getattr(row, measure)


def _list_item_values(
    rows: Iterable[ItemRow], measure: str
) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield (item, "", system, value of `measure`) for each item and system."""
    for row in rows:
        yield row.item, "", row.system, getattr(row, measure)


def _compare_systems_in_group(
    findings: Findings,
    kind: str,
    name: str,
    measure: str,
    rows: Iterable[tuple[str, str, str, float | None]],
    parameters: EloquentParameters,
    correction: Correction,
) -> GroupComparison:
    """Return the comparison of all systems on one group of items, given by `rows`."""
    systems = findings.systems
    items = pair_values_by_item(systems, rows)
    comparisons = compare_systems(systems, items, parameters, correction)
    means: list[float | None] = [None] * len(systems)
    if items:
        means = [float(value) for value in np.mean(list(items.values()), axis=0)]
    return GroupComparison(
        kind,
        name,
        measure,
        len(items),
        tuple(means),
        tuple(comparisons),
        _rank_systems(systems, comparisons, measure),
    )


def _rank_systems(
    systems: Sequence[str], comparisons: Sequence[Comparison], measure: str
) -> tuple[int | None, ...]:
    """Return each system's rank by significance, 1 for the best; None without comparisons."""
    if not comparisons:
        return (None,) * len(systems)
    # A smaller range is better, and ranks prefer greater values.
    if measure == LANGUAGE_RANGE:
        comparisons = [
            replace(
                comparison,
                difference=None if comparison.difference is None else -comparison.difference,
            )
            for comparison in comparisons
        ]
    return tuple(comparison.rank for comparison in rank_by_significance(comparisons, systems))


def _correct_p_values_over_groups(
    groups: Sequence[GroupComparison], correction: Correction
) -> list[GroupComparison]:
    """Return the groups with p-values corrected over the pairs of all groups together."""
    p_values = np.array(
        [
            np.nan if comparison.p_value is None else comparison.p_value
            for group in groups
            for comparison in group.comparisons
        ]
    )
    if not len(p_values):
        return list(groups)
    adjusted = iter(CORRECTIONS[correction](p_values))
    corrected = []
    for group in groups:
        pairs = tuple(
            replace(comparison, adjusted_p_value=convert_nan_to_none(next(adjusted)))
            for comparison in group.comparisons
        )
        systems = tuple(
            dict.fromkeys(
                n for comparison in pairs for n in (comparison.model_a, comparison.model_b)
            )
        )
        ranks = _rank_systems(systems, pairs, group.measure) if pairs else group.ranks
        corrected.append(replace(group, comparisons=pairs, ranks=ranks))
    return corrected
