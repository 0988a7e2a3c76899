"""Whether a model that is asked again says the same (Yang, Yoo and Lee 2024, section 4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations

EXACT, OVERLAP, JACCARD = "exact", "overlap", "jaccard"
Answers = frozenset[Hashable]


def consistency(replies: Sequence[Answers], similarity: str = EXACT) -> float | None:
    """Return 2/(m(m-1)) times the sum of the similarities of all pairs of m replies, 0 to 1.

    Parameters
    ----------
    replies : (m,) sets of answers; a set without any says the same as another such one.
    similarity : "exact": 1 for equal sets, else 0; "overlap": what two sets share, divided by the
        smaller one; "jaccard": divided by what is in either.

    Returns
    -------
    None for fewer than two replies.

    Raises
    ------
    ValueError : an unknown similarity.
    """
    if similarity not in (EXACT, OVERLAP, JACCARD):
        raise ValueError(f"unknown similarity {similarity!r}")
    m = len(replies)
    if m < 2:
        return None
    pairs = m * (m - 1) / 2
    times = Counter(replies)
    total = sum(count * (count - 1) / 2 for count in times.values())
    if similarity != EXACT:
        total += sum(
            times[one] * times[other] * _shared(one, other, similarity)
            for one, other in combinations(times, 2)
        )
    return total / pairs


def _shared(one: Answers, other: Answers, similarity: str) -> float:
    if not one or not other:
        return 0.0
    both = len(one & other)
    if similarity == OVERLAP:
        return both / min(len(one), len(other))
    return both / (len(one) + len(other) - both)
