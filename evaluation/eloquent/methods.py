"""Metrics of the ELOQUENT robustness task: set scores, ranks, judge agreement, similarity.

A set holds the replies of one system to the prompts of one item in one language. Judges' scores
give one score for each set, and sums of systems over sets. The similarity of a set is the mean
cosine of all pairs of its replies. Judges, models and people, are compared with each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from evaluation.core.stats.cells import Floats, Integers, divide_where_positive
from evaluation.core.stats.statistics.agreement import cohen_kappa
from evaluation.core.stats.statistics.descriptive import pearson, spearman

DIFFERENT_COUNTS = "different_counts"
DIFFERENT_SETS = "different_sets"
NO_SCORE = "no_score"
ONE_SYSTEM = "one_system"


@dataclass(frozen=True)
class SetScores:
    """Scores of reply sets (replies to one item's wordings), each averaged over its judges.

    Attributes
    ----------
    score : (S,) mean over judges of each judge's mean over repeats, 0 to 5; NaN without a score.
    spread : (S,) mean over judges of the standard deviation (n - 1) of each judge's repeats; NaN
        if no judge has two scores.
    n_judges, n_scores : (S,) number of judges with a score, and of scores.
    """

    score: Floats
    spread: Floats
    n_judges: Integers
    n_scores: Integers


def compute_set_scores(
    sets: ArrayLike, judges: ArrayLike, scores: ArrayLike, n_sets: int
) -> SetScores:
    """Return the mean score and spread over judges of each set of replies to an item's wordings.

    All judges of a set have the same weight, however many repeats they have. Repeats and several
    judges go beyond the task.

    Parameters
    ----------
    sets, judges : (J,) codes from 0 of the set and the judge of each judgement.
    scores : (J,) 0 to 5; NaN for a judgement without a score.
    n_sets : number of sets, with or without judgements.
    """
    values = np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(values)
    values = values[known]
    set_codes = np.asarray(sets, dtype=np.int64)[known]
    judge_codes = np.asarray(judges, dtype=np.int64)[known]
    pairs, pair = np.unique(np.stack([set_codes, judge_codes], axis=1), axis=0, return_inverse=True)
    # Some versions of numpy return the inverse of a two-dimensional array with two dimensions.
    pair = pair.reshape(-1)
    count = np.bincount(pair, minlength=len(pairs))
    mean = divide_where_positive(np.bincount(pair, weights=values, minlength=len(pairs)), count)
    # Of differences from the mean: a sum of squares less n mean^2 loses digits by cancellation.
    squares = np.bincount(pair, weights=(values - mean[pair]) ** 2, minlength=len(pairs))
    # With one score n - 1 is 0 and the deviation NaN: one repeat says nothing about the spread.
    deviation = np.sqrt(divide_where_positive(squares, count - 1))
    pair_sets = pairs[:, 0].astype(np.int64)
    n_judges = np.bincount(pair_sets, minlength=n_sets)
    repeated = ~np.isnan(deviation)
    return SetScores(
        divide_where_positive(np.bincount(pair_sets, weights=mean, minlength=n_sets), n_judges),
        divide_where_positive(
            np.bincount(pair_sets[repeated], weights=deviation[repeated], minlength=n_sets),
            np.bincount(pair_sets[repeated], minlength=n_sets),
        ),
        n_judges,
        np.bincount(set_codes, minlength=n_sets),
    )


def rank_systems_by_sum(
    scored: Sequence[Mapping[Any, float]],
) -> list[tuple[int | None, str | None]]:
    """Return each system's rank by its sum of scores, or the reason why there are no ranks.

    Parameters
    ----------
    scored : scores of each system by set.

    Returns
    -------
    A rank (1 for the highest sum) and None for each system; or None and one reason for all:
    one_system, no_score (a system has none), different_counts (a sum over more sets is higher for
    that alone), different_sets.
    """
    reason = None
    if len(scored) < 2:
        reason = ONE_SYSTEM
    elif not all(scored):
        reason = NO_SCORE
    elif len({len(scores) for scores in scored}) > 1:
        reason = DIFFERENT_COUNTS
    elif any(scores.keys() != scored[0].keys() for scores in scored):
        reason = DIFFERENT_SETS
    if reason:
        return [(None, reason)] * len(scored)
    # Rounded, because equal sums can differ by the order of addition.
    sums = np.round([sum(scores.values()) for scores in scored], 9)
    return [(1 + int((sums > own).sum()), None) for own in sums]


NO_COMMON_SETS = "no_common_sets"
# Kappa needs categories: scores are rounded to halves, as experts' grades are.
STEPS = 2


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of two judges on the `n` reply sets that both scored.

    A judge's score of a set is the mean of its repeats.

    Attributes
    ----------
    difference : mean of `judge` - `other`; None without a common set.
    absolute_difference : mean absolute difference, 0 to 5.
    kappa : Cohen's kappa with quadratic weights on scores rounded to halves; None if all are equal.
    pearson, spearman : correlations; None below 2 sets or if a judge gave one score to all.
    reason : no_common_sets, or None.
    """

    judge: str
    other: str
    n: int
    difference: float | None
    absolute_difference: float | None
    kappa: float | None
    pearson: float | None
    spearman: float | None
    reason: str | None


def compare_judges(scores: Mapping[str, Mapping[Any, float]]) -> list[JudgeAgreement]:
    """Return the agreement of every pair of judges; `scores` are by judge and reply set."""
    return [
        _compare_two_judges(judge, other, scores[judge], scores[other])
        for judge, other in combinations(scores, 2)
    ]


def _compare_two_judges(
    judge: str, other: str, judge_scores: Mapping[Any, float], other_scores: Mapping[Any, float]
) -> JudgeAgreement:
    """Return the agreement of two judges on the reply sets that both scored."""
    common = [name for name in judge_scores if name in other_scores]
    if not common:
        return JudgeAgreement(judge, other, 0, None, None, None, None, None, NO_COMMON_SETS)
    a = np.array([judge_scores[name] for name in common])
    b = np.array([other_scores[name] for name in common])
    return JudgeAgreement(
        judge,
        other,
        len(common),
        float((a - b).mean()),
        float(np.abs(a - b).mean()),
        cohen_kappa(np.rint(a * STEPS), np.rint(b * STEPS), weights="quadratic"),
        pearson(a, b),
        spearman(a, b),
        None,
    )


@dataclass(frozen=True)
class SetSimilarity:
    """Mean cosine within each set of replies to an item's wordings: of all, and of answered ones.

    Attributes
    ----------
    all : (S,) mean cosine over all pairs of a set's replies; NaN below 2 replies. A pair with an
        empty or refused reply counts as 0.
    answered : (S,) mean cosine over pairs of answered replies; NaN below 2 of them.
    n, n_answered : (S,) number of replies, and of answered ones.
    """

    all: Floats
    answered: Floats
    n: Integers
    n_answered: Integers


def compute_set_similarity(
    vectors: object, sets: ArrayLike, answered: ArrayLike, n_sets: int
) -> SetSimilarity:
    """Return the mean cosine over all pairs of replies in each set, exactly and in linear time.

    With n unit vectors u, the sum of u_i . u_j over ordered pairs i != j is |sum u|^2 - n. A vector
    of zeros has cosine 0 with every other one.

    Parameters
    ----------
    vectors : (A, d) vectors of the A answered replies in their order, dense or sparse.
    sets : (R,) codes from 0 of the set of each reply.
    answered : (R,) whether the reply is an answer; the others have no vector.
    n_sets : number of sets.
    """
    set_codes, is_answer = np.asarray(sets, dtype=np.int64), np.asarray(answered, dtype=bool)
    units, lengths = _normalize_rows(vectors)
    total = _sum_vectors_by_group(units, set_codes[is_answer], n_sets)
    # The sum includes each vector's product with itself: 1, or 0 for a vector of zeros.
    own = np.bincount(set_codes[is_answer], weights=lengths > 0, minlength=n_sets)
    pairs = (total**2).sum(axis=1) - own
    n = np.bincount(set_codes, minlength=n_sets)
    n_answered = np.bincount(set_codes[is_answer], minlength=n_sets)
    return SetSimilarity(
        _clip_cosines(divide_where_positive(pairs, n * (n - 1))),
        _clip_cosines(divide_where_positive(pairs, n_answered * (n_answered - 1))),
        n,
        n_answered,
    )


def compute_similarity_across_languages(
    vectors: object, items: ArrayLike, languages: ArrayLike, n_items: int
) -> tuple[Floats, Integers]:
    """Return each item's mean cosine of answers in different languages, and pair counts.

    Only pairs of two languages count; NaN without any. The numbers are meaningless if the embedder
    does not know one of the languages.

    Parameters
    ----------
    vectors : (A, d) vectors of answers.
    items, languages : (A,) codes from 0.
    """
    item_codes = np.asarray(items, dtype=np.int64)
    language_codes = np.asarray(languages, dtype=np.int64)
    units, _ = _normalize_rows(vectors)
    groups, group = np.unique(
        np.stack([item_codes, language_codes], axis=1), axis=0, return_inverse=True
    )
    group = group.reshape(-1)
    group_items = groups[:, 0].astype(np.int64) if len(groups) else np.empty(0, dtype=np.int64)
    # Pairs across languages are all pairs of an item without those within a language.
    group_sums = _sum_vectors_by_group(units, group, len(groups))
    # Each vector's product with itself is in both sums, and cancels.
    inside = np.bincount(group_items, weights=(group_sums**2).sum(axis=1), minlength=n_items)
    whole = (_sum_vectors_by_group(units, item_codes, n_items) ** 2).sum(axis=1)
    counts = np.bincount(group, minlength=len(groups)).astype(np.float64)
    n = np.bincount(item_codes, minlength=n_items)
    pairs = n**2 - np.bincount(group_items, weights=counts**2, minlength=n_items)
    # `pairs` counts ordered pairs, as the sums do; reported are unordered ones.
    return _clip_cosines(divide_where_positive(whole - inside, pairs)), (pairs // 2).astype(
        np.int64
    )


def _normalize_rows(vectors: object) -> tuple[Floats, Floats]:
    """Return the vectors scaled to length 1 (zeros stay zeros), and their lengths."""
    dense = vectors.toarray() if sparse.issparse(vectors) else vectors  # type: ignore[attr-defined]
    rows = np.asarray(dense, dtype=np.float64)
    if rows.ndim != 2:
        rows = rows.reshape(len(rows), -1)
    lengths = np.linalg.norm(rows, axis=1)
    return divide_where_positive(rows, lengths[:, None], undefined=0.0), lengths


def _sum_vectors_by_group(units: Floats, groups: Integers, n_groups: int) -> Floats:
    """Return the sum of the vectors of each group, one row per group."""
    rows = np.arange(len(groups))
    member = sparse.csr_matrix((np.ones(len(groups)), (groups, rows)), (n_groups, len(groups)))
    return np.asarray(member @ units, dtype=np.float64)


def _clip_cosines(cosines: Floats) -> Floats:
    """Return the cosines limited to -1..1, which rounding errors can exceed."""
    return np.clip(cosines, -1.0, 1.0)
