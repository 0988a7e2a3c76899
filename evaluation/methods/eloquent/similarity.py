"""How near the replies of a set lie to each other: the mean cosine of all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from evaluation.methods.cells import Floats, Integers
from evaluation.methods.undefined import ratio


@dataclass(frozen=True)
class SetSimilarity:
    """The sets of replies, compared by their vectors.

    Attributes
    ----------
    all : (S,) mean cosine over all pairs of a set's replies, where a pair with a reply that is no
        answer counts 0: not answering is not agreeing. NaN below 2 replies.
    answered : (S,) the same over pairs of answers; NaN below 2 answers.
    n, n_answered : (S,) replies, and answers among them.
    """

    all: Floats
    answered: Floats
    n: Integers
    n_answered: Integers


def set_similarity(
    vectors: object, sets: ArrayLike, answered: ArrayLike, n_sets: int
) -> SetSimilarity:
    """Return the mean pairwise cosine of each set, exact, in one pass.

    With unit vectors u the sum over ordered pairs of u_i . u_j is |sum u|^2 - n, so that no pair
    is computed by itself. A vector of zeros has cosine 0 with every other one.

    Parameters
    ----------
    vectors : (A, d) of the answers in the order of `answered`, dense or sparse.
    sets : (R,) numbers from 0 of the set that each reply is in.
    answered : (R,) whether it is an answer; the others have no vector. A = how many are.
    n_sets : how many sets there are.
    """
    of_set, is_answer = np.asarray(sets, dtype=np.int64), np.asarray(answered, dtype=bool)
    units, lengths = _units(vectors)
    total = _sums(units, of_set[is_answer], n_sets)
    # The squares of unit vectors: 1, or 0 for a vector of zeros.
    own = np.bincount(of_set[is_answer], weights=lengths > 0, minlength=n_sets)
    pairs = (total**2).sum(axis=1) - own
    n = np.bincount(of_set, minlength=n_sets)
    n_answered = np.bincount(of_set[is_answer], minlength=n_sets)
    return SetSimilarity(
        _within(ratio(pairs, n * (n - 1))),
        _within(ratio(pairs, n_answered * (n_answered - 1))),
        n,
        n_answered,
    )


def similarity_across(
    vectors: object, items: ArrayLike, languages: ArrayLike, n_items: int
) -> tuple[Floats, Integers]:
    """Return (I,) mean cosine of an item's answers in different languages, and how many pairs.

    Only pairs of one language with another count; NaN without any. The embedder must know all of
    these languages, or the numbers say nothing.

    Parameters
    ----------
    vectors : (A, d) of answers. items, languages : (A,) numbers from 0.
    """
    of_item = np.asarray(items, dtype=np.int64)
    of_language = np.asarray(languages, dtype=np.int64)
    units, _ = _units(vectors)
    both, place = np.unique(np.stack([of_item, of_language], axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    item_of = both[:, 0].astype(np.int64) if len(both) else np.empty(0, dtype=np.int64)
    per_language = _sums(units, place, len(both))
    inside = np.bincount(item_of, weights=(per_language**2).sum(axis=1), minlength=n_items)
    whole = (_sums(units, of_item, n_items) ** 2).sum(axis=1)
    counts = np.bincount(place, minlength=len(both)).astype(np.float64)
    n = np.bincount(of_item, minlength=n_items)
    pairs = n**2 - np.bincount(item_of, weights=counts**2, minlength=n_items)
    return _within(ratio(whole - inside, pairs)), (pairs // 2).astype(np.int64)


def _units(vectors: object) -> tuple[Floats, Floats]:
    """Return the vectors at length 1 (those of zeros stay), and their lengths."""
    dense = vectors.toarray() if sparse.issparse(vectors) else vectors  # type: ignore[attr-defined]
    rows = np.asarray(dense, dtype=np.float64)
    if rows.ndim != 2:
        rows = rows.reshape(len(rows), -1)
    lengths = np.linalg.norm(rows, axis=1)
    return ratio(rows, lengths[:, None], undefined=0.0), lengths


def _sums(units: Floats, groups: Integers, n_groups: int) -> Floats:
    rows = np.arange(len(groups))
    member = sparse.csr_matrix((np.ones(len(groups)), (groups, rows)), (n_groups, len(groups)))
    return np.asarray(member @ units, dtype=np.float64)


def _within(cosines: Floats) -> Floats:
    """Return cosines without what rounding added beyond -1 and 1."""
    return np.clip(cosines, -1.0, 1.0)
