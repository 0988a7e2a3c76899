"""Define the rows that every study of models returns: metrics and exclusions.

Studies of models (MultiQ&A, UMWP, MAQA, ELOQUENT) share these; `evaluation.runs.files.metrics`
writes them, and runs of the database store them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evaluation.core.stats.inference.estimate import SampleEstimate

OVERALL = ""
# Items named for one reason; the others are only counted.
NAMED = 1000


class MetricRow(NamedTuple):
    """A row of metrics.csv: one number of one system over one group of items.

    `group` is "" for all items, or ``kind:``, ``dataset:``, ``form:``, ``category:``, ``source:``,
    ``language:``, ``variation:`` or ``item:`` and a name. `n` counts what the number is a mean of.
    `reason` says why `value` is None, or else why `low` and `high` are.
    """

    system: str
    group: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None

    @classmethod
    def of(cls, system: str, group: str, metric: str, estimate: SampleEstimate) -> MetricRow:
        """Return the row that holds an estimate of a metric for a system and a group."""
        return cls(
            system,
            group,
            metric,
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.n,
            estimate.reason,
        )


def build_group_name(key: str, name: str) -> str:
    """Return a group's name in metrics.csv, such as ``dataset:arc``."""
    return f"{key}:{name}"


def sort_overall_first(rows: Iterable[MetricRow]) -> Iterator[MetricRow]:
    """Yield rows over all items before those over groups, otherwise in their order."""
    later = []
    for row in rows:
        if row.group == OVERALL:
            yield row
        else:
            later.append(row)
    yield from later


@dataclass
class Exclusions:
    """Counts of a study's excluded items by reason, with the first 1,000 of each.

    Attributes
    ----------
    found : for each reason how many there are, and what names the first of them.
    """

    found: dict[str, tuple[int, list[Any]]] = field(default_factory=dict)

    def add(self, reason: str, what: Any) -> None:
        """Add one excluded item; `what` is its id, or an object of ids and lines."""
        self.add_all(reason, [what])

    def add_all(self, reason: str, named: Iterable[Any], count: int | None = None) -> None:
        """Add several excluded items; `count` if there are more than are named."""
        more = list(named)
        before, names = self.found.get(reason, (0, []))
        names = [*names, *more[: max(0, NAMED - len(names))]]
        self.found[reason] = (before + (len(more) if count is None else count), names)

    def merge(self, others: Exclusions) -> None:
        """Add the exclusions that another part of the study counted."""
        for reason, (count, named) in others.found.items():
            self.add_all(reason, named, count)

    def count(self, reason: str) -> int:
        """Return how many items the study excluded for a reason."""
        return self.found.get(reason, (0, []))[0]

    def __bool__(self) -> bool:
        return bool(self.found)

    def as_list(self) -> list[dict[str, Any]]:
        """Return one entry for JSON per reason: its count and the first 1,000 items."""
        return [
            {"reason": reason, "count": count, "named": named}
            for reason, (count, named) in self.found.items()
        ]
