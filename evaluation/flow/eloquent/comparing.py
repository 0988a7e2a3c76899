"""Systems compared pair by pair on the same items: overall, by variation and language, across them.

As models are compared by crowd scores (methods section 6): paired by item, an item being the mean
over the languages in which all systems have a number, intervals and p-values by items, p-values
corrected over all pairs of all groups of one kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.flow.eloquent.found import Findings, ItemRow, SetRow
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.flow.metrics import OVERALL, group_name
from evaluation.methods.cells import Floats
from evaluation.methods.inference.comparison import Comparison, compare_models, significant_ranks
from evaluation.methods.inference.corrections import CORRECTIONS, Correction
from evaluation.methods.undefined import or_none

SCORE, SIMILARITY = "score", "similarity"
ACROSS = "across"
LANGUAGE_RANGE, SIMILARITY_ACROSS = "language_range", "similarity_across_languages"
HEADER = (
    *("group", "measure", "model_a", "model_b", "difference", "low", "high", "p_value"),
    *("adjusted_p_value", "smallest_detectable", "n", "test", "correction", "reason"),
)


@dataclass(frozen=True)
class ComparedGroup:
    """Systems on the items of one group.

    Attributes
    ----------
    kind : "" for all, "variation", "language", or "across" for the languages of an item together.
    measure : score, similarity, language_range or similarity_across_languages; of the range the
        lower one is better.
    n_items : on which every system has the number. means : of each system over these.
    ranks : 1 + how many are significantly better; None where nothing could be compared.
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
        """As the tables name it."""
        if not self.kind:
            return OVERALL
        return ACROSS if self.kind == ACROSS else group_name(self.kind, self.name)


def paired_items(
    systems: Sequence[str], rows: Iterable[tuple[str, str, str, float | None]]
) -> dict[str, Floats]:
    """Return (S,) numbers by item: the mean over the languages in which every system has one.

    `rows` are item, language, system and number.
    """
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for item, language, system, value in rows:
        if value is not None:
            found[item, language][system] = value
    parts: dict[str, list[Floats]] = defaultdict(list)
    for (item, _), of_set in found.items():
        if len(of_set) == len(systems):
            parts[item].append(np.array([of_set[system] for system in systems]))
    return {item: np.asarray(np.mean(of_item, axis=0)) for item, of_item in parts.items()}


def compare_systems(
    systems: Sequence[str],
    items: dict[str, Floats],
    parameters: EloquentParameters,
    correction: Correction = "holm",
) -> list[Comparison]:
    """Compare every two systems on the items; none without two systems and an item."""
    if len(systems) < 2 or not items:
        return []
    table = np.stack(list(items.values()), axis=1)
    return compare_models(table, systems, correction, parameters.bootstrap, parameters.seed)


def compared_groups(
    findings: Findings, parameters: EloquentParameters, correction: Correction = "holm"
) -> list[ComparedGroup]:
    """Compare the systems by the judges' score, or by similarity where nobody judged.

    All items first, then by kind of variation, by language, and across languages; nothing where
    there is one system. A kind that has one group alone says no more than all items, and is left
    out.
    """
    if len(findings.systems) < 2:
        return []
    judged = any(row.score is not None for row in findings.sets)
    measure = SCORE if judged else SIMILARITY
    sets = findings.sets
    found = [_group(findings, "", "", measure, _of_sets(sets, measure), parameters, correction)]
    for kind, name_of in KINDS.items():
        names = [name for name in dict.fromkeys(map(name_of, sets)) if name]
        groups = [
            _group(
                findings,
                kind,
                name,
                measure,
                _of_sets([row for row in sets if name_of(row) == name], measure),
                parameters,
                correction,
            )
            for name in names
        ]
        groups = [group for group in groups if group.n_items]
        found += _corrected_together(groups, correction) if len(groups) > 1 else []
    across = [
        _group(findings, ACROSS, "", name, _of_items(findings.items, name), parameters, correction)
        for name in ((LANGUAGE_RANGE,) if judged else ()) + (SIMILARITY_ACROSS,)
    ]
    return found + [one for one in across if one.n_items]


def comparison_rows(groups: Iterable[ComparedGroup]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table with `HEADER`."""
    for group in groups:
        for one in group.comparisons:
            cells = (getattr(one, name) for name in HEADER[2:])
            yield (group.group or None, group.measure, *cells)


KINDS: dict[str, Callable[[SetRow], str]] = {
    "variation": lambda row: row.variation,
    "language": lambda row: row.language,
}


def _of_sets(rows: Iterable[SetRow], measure: str) -> Iterator[tuple[str, str, str, float | None]]:
    for row in rows:
        yield row.item, row.language, row.system, getattr(row, measure)


def _of_items(
    rows: Iterable[ItemRow], measure: str
) -> Iterator[tuple[str, str, str, float | None]]:
    for row in rows:
        yield row.item, "", row.system, getattr(row, measure)


def _group(
    findings: Findings,
    kind: str,
    name: str,
    measure: str,
    rows: Iterable[tuple[str, str, str, float | None]],
    parameters: EloquentParameters,
    correction: Correction,
) -> ComparedGroup:
    systems = findings.systems
    items = paired_items(systems, rows)
    comparisons = compare_systems(systems, items, parameters, correction)
    means: list[float | None] = [None] * len(systems)
    if items:
        means = [float(value) for value in np.mean(list(items.values()), axis=0)]
    return ComparedGroup(
        kind,
        name,
        measure,
        len(items),
        tuple(means),
        tuple(comparisons),
        _ranks(systems, comparisons, measure),
    )


def _ranks(
    systems: Sequence[str], comparisons: Sequence[Comparison], measure: str
) -> tuple[int | None, ...]:
    if not comparisons:
        return (None,) * len(systems)
    if measure == LANGUAGE_RANGE:  # a smaller one is better
        comparisons = [
            replace(one, difference=None if one.difference is None else -one.difference)
            for one in comparisons
        ]
    return tuple(one.rank for one in significant_ranks(comparisons, systems))


def _corrected_together(
    groups: Sequence[ComparedGroup], correction: Correction
) -> list[ComparedGroup]:
    """Correct p-values over all pairs of all groups: each is one more chance to be fooled."""
    p_values = np.array(
        [
            np.nan if one.p_value is None else one.p_value
            for group in groups
            for one in group.comparisons
        ]
    )
    if not len(p_values):
        return list(groups)
    adjusted = iter(CORRECTIONS[correction](p_values))
    found = []
    for group in groups:
        pairs = tuple(
            replace(one, adjusted_p_value=or_none(next(adjusted))) for one in group.comparisons
        )
        systems = tuple(dict.fromkeys(n for one in pairs for n in (one.model_a, one.model_b)))
        ranks = _ranks(systems, pairs, group.measure) if pairs else group.ranks
        found.append(replace(group, comparisons=pairs, ranks=ranks))
    return found
