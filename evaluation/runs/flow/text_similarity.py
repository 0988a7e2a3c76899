"""Compare the texts of one item: cosines of their vectors, and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends import Embedder
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.text.matching import extract_numbers

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Progress = Callable[[str, int, int], None]

# Texts embedded together; their vectors are held at once.
TEXTS = 20_000
# Equal texts have a cosine of 1 but for rounding, and are always the same answer.
ALL_BUT_1 = 1 - 1e-6


def split_into_blocks(of_item: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield (first, end) index ranges of items that have about 20,000 texts together."""
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
    """Return the texts' vectors and how many texts were cut; progress continues from `done`."""

    def report(n: int, _: int) -> None:
        if progress is not None:
            progress("embedding", min(done + n, total), total)

    vectors = embedder.embed(texts, report)
    return vectors, embedder.n_truncated_


def compute_cosines_among(vectors: Vectors, rows: Sequence[int]) -> Floats:
    """Return the cosines of all pairs of the given rows; 0 where a vector is zero."""
    part = vectors[list(rows)]
    products = part @ part.T
    gram = np.asarray(convert_to_dense(products), dtype=np.float64)
    length = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.where(length > 0, length, 1.0)
    # Of equal texts it is 1, which rounding must not lift above a threshold of 1.
    return np.asarray(np.clip(gram / scale[:, None] / scale, -1.0, 1.0), dtype=np.float64)


def find_different_numbers(texts: Sequence[str]) -> Bools:
    """Return a square table, true where two texts both hold numbers, and different ones."""
    known: dict[frozenset[str], int] = {frozenset(): 0}
    of = np.array(
        [known.setdefault(extract_numbers(text), len(known)) for text in texts], dtype=np.int64
    )
    both = (of[:, None] > 0) & (of[None, :] > 0)
    return np.asarray(both & (of[:, None] != of[None, :]))
