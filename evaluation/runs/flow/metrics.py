"""Rows that every study of models returns, and the similarity of an item's texts.

Define the rows that every study of models returns: metrics and exclusions.

Studies of models (MultiQ&A, UMWP, MAQA, ELOQUENT) share these; `evaluation.runs.files.metrics`
writes them, and runs of the database store them.

Compare the texts of one item: cosines of their vectors, and their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import Progress
from evaluation.core.backends import Embedder
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.text.matching import extract_numbers

OVERALL = ""
# Items named for one reason; the others are only counted.
NAMED = 1000


class MetricRow(NamedTuple):
    """A row of metrics.csv: one number of one system over one group of items.

    `group` is "" for all items, or ``kind:``, ``dataset:``, ``form:``, ``category:``, ``source:``,
    ``language:``, ``variation:`` or ``item:`` and a name. `n` is the number of values in the mean.
    `reason` is the code of why `value`, or else `low` and `high`, are None.
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
    def from_estimate(
        cls, system: str, group: str, metric: str, estimate: SampleEstimate
    ) -> MetricRow:
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
    """A study's excluded items: their number by reason, and the first 1,000 of each.

    Attributes
    ----------
    by_reason : for each reason the count, and the ids of the first 1,000 items.
    """

    by_reason: dict[str, tuple[int, list[Any]]] = field(default_factory=dict)

    def add(self, reason: str, what: Any) -> None:
        """Add one excluded item; `what` is its id, or an object of ids and lines."""
        self.add_all(reason, [what])

    def add_all(self, reason: str, named: Iterable[Any], count: int | None = None) -> None:
        """Add several excluded items; `count` is their number if not all are in `named`."""
        more = list(named)
        before, names = self.by_reason.get(reason, (0, []))
        names = [*names, *more[: max(0, NAMED - len(names))]]
        self.by_reason[reason] = (before + (len(more) if count is None else count), names)

    def merge(self, others: Exclusions) -> None:
        """Add the exclusions that another part of the study counted."""
        for reason, (count, named) in others.by_reason.items():
            self.add_all(reason, named, count)

    def count(self, reason: str) -> int:
        """Return how many items the study excluded for a reason."""
        return self.by_reason.get(reason, (0, []))[0]

    def __bool__(self) -> bool:
        return bool(self.by_reason)

    def as_list(self) -> list[dict[str, Any]]:
        """Return one entry for JSON per reason: its count and the first 1,000 items."""
        return [
            {"reason": reason, "count": count, "named": named}
            for reason, (count, named) in self.by_reason.items()
        ]


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Texts embedded together; their vectors are held at once.
TEXTS = 20_000
# Equal texts have a cosine of 1 but for rounding, and are always the same answer.
ALL_BUT_1 = 1 - 1e-6


def split_into_blocks(of_item: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield the (start, stop) indices of blocks of items with about 20,000 texts each."""
    first, count = 0, 0
    for place, texts in enumerate(of_item):
        if count and count + len(texts) > TEXTS:
            yield first, place
            first, count = place, 0
        count += len(texts)
    if first < len(of_item):
        yield first, len(of_item)


def embed_block(
    embedder: Embedder, texts: Sequence[str], done: int, total: int, progress: Progress | None
) -> tuple[Vectors, int]:
    """Return the texts' vectors and the number of truncated texts; progress starts at `done`."""

    def report(n: int, _: int) -> None:
        if progress is not None:
            progress("embedding", min(done + n, total), total)

    vectors = embedder.embed(texts, report)
    return vectors, embedder.n_truncated_


def compute_pairwise_cosines(vectors: Vectors, rows: Sequence[int]) -> Floats:
    """Return the square matrix of cosines between these rows of vectors; 0 for a zero vector."""
    part = vectors[list(rows)]
    products = part @ part.T
    gram = np.asarray(convert_to_dense(products), dtype=np.float64)
    length = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.where(length > 0, length, 1.0)
    # Of equal texts it is 1, which rounding must not lift above a threshold of 1.
    return np.asarray(np.clip(gram / scale[:, None] / scale, -1.0, 1.0), dtype=np.float64)


def find_number_conflicts(texts: Sequence[str]) -> Bools:
    """Return the square mask of text pairs that both contain numbers, and different ones."""
    # 0 is the code of a text without numbers, which never differs from another by its numbers.
    known: dict[frozenset[str], int] = {frozenset(): 0}
    owners = np.array(
        [known.setdefault(extract_numbers(text), len(known)) for text in texts], dtype=np.int64
    )
    both = (owners[:, None] > 0) & (owners[None, :] > 0)
    return np.asarray(both & (owners[:, None] != owners[None, :]))
