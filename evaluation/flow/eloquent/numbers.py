"""The rows of metrics.csv: sums, means and similarities of systems, overall and by group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from evaluation.flow.eloquent.found import ItemRow, SetRow
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.flow.metrics import OVERALL, MetricRow, group_name
from evaluation.methods.cells import Floats
from evaluation.methods.eloquent.judged import ranks_by_sum
from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.undefined import ratio

ALL_SYSTEMS = ""
NO_SCORE = "no_score"
NO_REPLY = "no_reply"
FEWER_THAN_2_VARIANTS = "fewer_than_2_variants"
ONE_LANGUAGE = "one_language"
NOT_JUDGED_TWICE = "not_judged_twice"

Number = Callable[[SetRow], float | None]


def metric_rows(
    systems: Sequence[str],
    sets: Sequence[SetRow],
    items: Sequence[ItemRow],
    judgements: Sequence[Judgement],
    parameters: EloquentParameters,
) -> Iterator[MetricRow]:
    """Yield the rows: overall, by variation, language and item, and by judge.

    `sum`, `mean` and `n` are over sets of replies (an item, a system, a language), `average` over
    systems. Intervals are by items.
    """
    if not systems:
        return
    yield from _of_group(systems, sets, OVERALL, parameters)
    yield from _ranks(systems, sets)
    yield from _beside(systems, sets, items, parameters)
    yield from _average(systems, sets, OVERALL)
    for key, groups in (
        ("variation", _groups(sets, lambda row: row.variation)),
        ("language", _groups(sets, lambda row: row.language)),
        ("item", _groups(sets, lambda row: row.item)),
    ):
        for name, members in groups.items():
            group = group_name(key, name)
            yield from _of_group(systems, members, group, parameters)
            yield from _average(systems, members, group)
    yield from _by_judge(judgements)


def _groups(sets: Sequence[SetRow], name: Callable[[SetRow], str]) -> dict[str, list[SetRow]]:
    """Return the sets by the name of their group; "" is in none."""
    found: dict[str, list[SetRow]] = defaultdict(list)
    for row in sets:
        if name(row):
            found[name(row)].append(row)
    return found


def _of_group(
    systems: Sequence[str], sets: Sequence[SetRow], group: str, parameters: EloquentParameters
) -> Iterator[MetricRow]:
    scores = estimates(systems, sets, lambda row: row.score, parameters)
    similarity = estimates(systems, sets, lambda row: row.similarity, parameters)
    answered = estimates(systems, sets, lambda row: row.similarity_answered, parameters)
    for at, system in enumerate(systems):
        known = [row.score for row in sets if row.system == system and row.score is not None]
        n = len(known)
        why = None if n else _why(sets)
        total = float(np.sum(known)) if n else None
        yield MetricRow(system, group, "sum", total, None, None, n, why)
        mean = MetricRow.of(system, group, "mean", scores[at])
        yield mean if n else mean._replace(reason=why)
        yield MetricRow(system, group, "n", float(n), None, None, n, None)
        if any(row.n_replies for row in sets if row.system == system):
            yield MetricRow.of(system, group, "similarity", similarity[at])
            yield MetricRow.of(system, group, "similarity_answered", answered[at])


def _why(sets: Sequence[SetRow]) -> str:
    """Return why sets have no score."""
    return NO_SCORE if any(row.n_prompts > 1 for row in sets) else FEWER_THAN_2_VARIANTS


def estimates(
    systems: Sequence[str], sets: Sequence[SetRow], number: Number, parameters: EloquentParameters
) -> list[Estimate]:
    """Return the mean over sets of a number of each, a system each; intervals draw whole items.

    `n` counts sets; an interval needs 2 items.
    """
    items = {name: at for at, name in enumerate(dict.fromkeys(row.item for row in sets))}
    place = {system: at for at, system in enumerate(systems)}
    totals, counts = np.zeros((2, len(systems), len(items)))
    for row in sets:
        value = number(row)
        if value is not None:
            totals[place[row.system], items[row.item]] += value
            counts[place[row.system], items[row.item]] += 1

    def statistic(weights: Floats) -> Floats:
        return ratio(totals @ weights.T, counts @ weights.T)

    found = drawn_intervals(
        ratio(totals.sum(axis=1), counts.sum(axis=1)),
        np.count_nonzero(counts, axis=1),
        statistic,
        len(items),
        parameters.bootstrap,
        parameters.seed,
    )
    sizes = counts.sum(axis=1).astype(int)
    return [
        Estimate(
            one.value,
            one.low,
            one.high,
            int(n),
            NO_SCORE if one.value is None else one.reason,
        )
        for one, n in zip(found, sizes, strict=True)
    ]


def _ranks(systems: Sequence[str], sets: Sequence[SetRow]) -> Iterator[MetricRow]:
    scored = [
        {
            (row.item, row.language): row.score
            for row in sets
            if row.system == system and row.score is not None
        }
        for system in systems
    ]
    for system, of_system, found in zip(systems, scored, ranks_by_sum(scored), strict=True):
        rank = None if found.rank is None else float(found.rank)
        n = len(of_system)
        yield MetricRow(system, OVERALL, "rank", rank, None, None, n, found.reason)


def _beside(
    systems: Sequence[str],
    sets: Sequence[SetRow],
    items: Sequence[ItemRow],
    parameters: EloquentParameters,
) -> Iterator[MetricRow]:
    """Yield what stands beside the scores: spread of repeats, people, languages, no answers."""
    spread = estimates(systems, sets, lambda row: row.spread, parameters)
    human = estimates(systems, sets, lambda row: row.human_score, parameters)
    for at, system in enumerate(systems):
        yield _named(system, "spread", spread[at], NOT_JUDGED_TWICE)
        if human[at].value is not None:
            yield MetricRow.of(system, OVERALL, "human_mean", human[at])
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


def _named(system: str, metric: str, found: Estimate, undefined: str) -> MetricRow:
    row = MetricRow.of(system, OVERALL, metric, found)
    return row._replace(reason=undefined) if row.value is None else row


def _average(systems: Sequence[str], sets: Sequence[SetRow], group: str) -> Iterator[MetricRow]:
    """Yield the mean over systems of each one's mean: the last column of the paper's Table 2."""
    means = []
    for system in systems:
        known = [row.score for row in sets if row.system == system and row.score is not None]
        if known:
            means.append(float(np.mean(known)))
    value = float(np.mean(means)) if means else None
    why = None if means else _why(sets)
    yield MetricRow(ALL_SYSTEMS, group, "average", value, None, None, len(means), why)


def _by_judge(judgements: Sequence[Judgement]) -> Iterator[MetricRow]:
    """Yield each judge's own sums and means: every set counts once, by the mean of its repeats."""
    scores: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in judgements:
        of_system = scores[one.judge, one.system]
        if one.score is not None:
            of_system[one.item, one.language].append(one.score)
    for (judge, system), sets in scores.items():
        means = [float(np.mean(repeats)) for repeats in sets.values()]
        group, n = group_name("judge", judge), len(means)
        why = None if n else NO_SCORE
        total = sum(means) if n else None
        yield MetricRow(system, group, "sum", total, None, None, n, why)
        mean = float(np.mean(means)) if n else None
        yield MetricRow(system, group, "mean", mean, None, None, n, why)
        yield MetricRow(system, group, "n", float(n), None, None, n, None)
