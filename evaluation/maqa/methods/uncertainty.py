"""Measures of a model's confidence, from one or several replies (Yang et al. 2024, section 4).

From one reply: the greatest probability, the entropy and the margin of the distribution over an
answer's first token. The margin is the difference of the two greatest probabilities (section 4.1).

From several replies to one question: consistency, the mean similarity of two replies (section 4.2),
and semantic entropy (Farquhar et al. 2024). Replies with the same meaning form a cluster. The
entropy over the clusters is 0 if all m replies have one meaning, and ln m if each has its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf, isfinite, log

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Floats, Integers

NO_NUMBERS = "no_numbers"
NOT_FINITE = "not_finite"
ABOVE_1 = "probability_above_1"
VOCABULARY_TOO_SMALL = "vocabulary_too_small"

# Servers round the probabilities, so their sum may exceed 1 by this much.
ROUNDING = 1e-3


class DistributionError(ValueError):
    """Token probabilities that form no valid distribution; `code` is the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class FirstTokenConfidence:
    """Confidence in an answer, measured from the probabilities of its first token.

    Attributes
    ----------
    max_softmax : the greatest probability, 0 to 1.
    entropy : in nats, 0 or more; its lower bound if only the likeliest tokens are known.
    entropy_high : its upper bound; equals `entropy` if the whole distribution is known. None if
        the size of the vocabulary is unknown.
    margin : the greatest probability minus the second, 0 to 1; None if the second is unknown.
    """

    max_softmax: float
    entropy: float
    entropy_high: float | None
    margin: float | None


def measure_logits(logits: ArrayLike) -> FirstTokenConfidence:
    """Return the confidence measures of a complete first-token distribution, from its logits.

    Parameters
    ----------
    logits : (V,) logits or log-probabilities of all tokens; -infinity for an impossible token.

    Raises
    ------
    DistributionError : no_numbers; not_finite: NaN, infinity, or no possible token.
    """
    x = np.asarray(logits, dtype=np.float64)
    if not x.size:
        raise DistributionError(NO_NUMBERS)
    # The maximum is subtracted to avoid overflow; it is NaN if any logit is.
    top = x.max()
    if not np.isfinite(top):
        raise DistributionError(NOT_FINITE)
    p = np.exp(x - top)
    p /= p.sum()
    entropy = _compute_entropy(p)
    return FirstTokenConfidence(float(p.max()), entropy, entropy, _compute_margin(p))


def measure_top_logprobs(
    logprobs: Sequence[float],
    vocabulary: int | None,
    others: tuple[int, float, float] | None = None,
) -> FirstTokenConfidence:
    """Return the confidence measures of a distribution of which only the top k tokens are known.

    Let r be the probability of all other tokens and H_k = -sum p ln p over the known ones. The
    entropy is least, H_k - r ln r, if one token has all of r. It is greatest,
    H_k - r ln r + r ln(V - k), if the other V - k tokens share r equally.

    Parameters
    ----------
    logprobs : (k,) natural logarithms of probabilities, in any order.
    vocabulary : V, the number of tokens of the model; None if unknown.
    others : (number of tokens, sum of p, -sum p ln p) of further known tokens, none likelier than
        those in `logprobs`. If nothing is missing then, p is normalized.

    Raises
    ------
    DistributionError : no_numbers; not_finite; probability_above_1: one probability, or their sum
        by more than rounding (.001); vocabulary_too_small: V is below the number of known tokens,
        or equal to it although some probability is missing.
    """
    # A loop over floats: for some five numbers it is faster than numpy.
    if not len(logprobs):
        raise DistributionError(NO_NUMBERS)
    logs = sorted(logprobs, reverse=True)
    # The sum is NaN if a summand is; then it is not equal to itself.
    if (added := sum(logs)) != added or logs[0] == inf:
        raise DistributionError(NOT_FINITE)
    # Before the exponential, which overflows for large numbers.
    if logs[0] > 1:
        raise DistributionError(ABOVE_1)
    p = list(map(exp, logs))
    total = sum(p)
    if p[0] > 1 + ROUNDING or total > 1 + ROUNDING:
        raise DistributionError(ABOVE_1)
    if not total:
        raise DistributionError(NOT_FINITE)
    if p[0] > 1:
        p = [min(each, 1.0) for each in p]
    if others is not None:
        return _measure_with_remaining_tokens(p, total, others, vocabulary)
    missing = max(0.0, 1.0 - total)
    unknown = None if vocabulary is None else vocabulary - len(p)
    if unknown is not None and (unknown < 0 or (unknown == 0 and missing > ROUNDING)):
        raise DistributionError(VOCABULARY_TOO_SMALL)
    if unknown == 0:
        # The vocabulary is complete, so the rest is rounding.
        missing = 0.0
    low = max(0.0, -sum([each * log(each) for each in p if each]))
    high: float | None = low
    if missing:
        low -= missing * log(missing)
        if unknown is not None:
            high = low + missing * log(unknown)
        else:  # a mass within rounding may mean that there are no other tokens
            high = low if missing <= ROUNDING else None
    margin = p[0] - p[1] if len(p) > 1 else p[0] if missing <= ROUNDING else None
    return FirstTokenConfidence(p[0], low, high, margin)


def _measure_with_remaining_tokens(
    p: Sequence[float], total: float, others: tuple[int, float, float], vocabulary: int | None
) -> FirstTokenConfidence:
    """Return the confidence measures if the sums over the other tokens are known, too."""
    tokens, probability, entropy = others
    if not (isfinite(probability) and isfinite(entropy)):
        raise DistributionError(NOT_FINITE)
    if probability < 0 or entropy < 0 or tokens < 0:
        raise DistributionError(NOT_FINITE)
    total += probability
    if total > 1 + ROUNDING:
        raise DistributionError(ABOVE_1)
    known = entropy - sum([each * log(each) for each in p if each])
    unknown = None if vocabulary is None else vocabulary - len(p) - tokens
    missing = max(0.0, 1.0 - total)
    if unknown is not None and (unknown < 0 or (unknown == 0 and missing > ROUNDING)):
        raise DistributionError(VOCABULARY_TOO_SMALL)
    margin = p[0] - (p[1] if len(p) > 1 else 0.0)
    if missing <= ROUNDING:  # the distribution is complete: normalize it
        # The entropy of p / t, with t the sum of p: -sum (p/t) ln(p/t) = -(sum p ln p) / t + ln t.
        whole = max(0.0, known / total + log(total))
        return FirstTokenConfidence(p[0] / total, whole, whole, margin / total)
    low = max(0.0, known) - missing * log(missing)
    high = None if unknown is None else low + missing * log(unknown)
    return FirstTokenConfidence(p[0], low, high, margin)


def _compute_entropy(p: Floats) -> float:
    """Return the entropy of probabilities, -sum p ln p, in nats; at least 0."""
    # p ln p tends to 0 with p, but log(0) is -infinity and the product NaN.
    positive = p[p > 0]
    return max(0.0, -float((positive * np.log(positive)).sum()))


def _compute_margin(p: Floats) -> float:
    """Return the greatest probability minus the second greatest (0 if there is none)."""
    if len(p) == 1:
        return float(p[0])
    second, first = np.partition(p, -2)[-2:]
    return float(first - second)


EXACT, OVERLAP, JACCARD = "exact", "overlap", "jaccard"
Answers = frozenset[Hashable]


def compute_consistency(replies: Sequence[Answers], similarity: str = EXACT) -> float | None:
    """Return the mean similarity of all pairs of a model's replies to a question, 0 to 1.

    Parameters
    ----------
    replies : (m,) sets of answers. Two empty sets are equal; an empty set has similarity 0 with
        any other.
    similarity : "exact": 1 for equal sets, else 0; "overlap": size of the intersection divided by
        the size of the smaller set; "jaccard": divided by the size of the union.

    Returns
    -------
    2/(m(m-1)) times the sum over the pairs; None for fewer than two replies.

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
    # Pairs of distinct sets instead of pairs of replies: replies often repeat.
    counts = Counter(replies)
    total = sum(count * (count - 1) / 2 for count in counts.values())
    if similarity != EXACT:
        total += sum(
            counts[first] * counts[second] * _compute_similarity(first, second, similarity)
            for first, second in combinations(counts, 2)
        )
    return total / pairs


def _compute_similarity(first: Answers, second: Answers, similarity: str) -> float:
    """Return the overlap or Jaccard similarity of two different answer sets, 0 to 1."""
    if not first or not second:
        return 0.0
    both = len(first & second)
    if similarity == OVERLAP:
        return both / min(len(first), len(second))
    return both / (len(first) + len(second) - both)


def assign_clusters(same: ArrayLike) -> Integers:
    """Return a cluster number for each reply; replies with the same meaning share one.

    As in the paper, a sample is compared only with the first member of each cluster. Entailment is
    not transitive, so comparing all members would build chains of near meanings.

    Parameters
    ----------
    same : (m, m) whether two samples have the same meaning; only the upper triangle is read.

    Returns
    -------
    (m,) cluster numbers, from 0 in the order of the first members.
    """
    matrix = np.asarray(same, dtype=np.bool_)
    first_members: list[int] = []
    labels = np.zeros(len(matrix), dtype=np.int64)
    for sample in range(len(matrix)):
        for number, member in enumerate(first_members):
            if matrix[member, sample]:
                labels[sample] = number
                break
        else:
            labels[sample] = len(first_members)
            first_members.append(sample)
    return labels


def compute_discrete_entropy(clusters: Sequence[int] | Integers) -> float | None:
    """Return the semantic entropy of replies in nats, from the sizes of their clusters.

    It is -sum p ln p, with p the share of samples in each cluster; it needs no probabilities of
    tokens. None for fewer than two samples.
    """
    m = len(clusters)
    if m < 2:
        return None
    counts = np.unique(np.asarray(clusters), return_counts=True)[1]
    return _compute_entropy(counts / m)


def compute_weighted_entropy(
    clusters: Sequence[int] | Integers,
    mean_logprobs: ArrayLike,
    texts: Sequence[object] | None = None,
) -> float | None:
    """Return the semantic entropy of replies in nats, weighted by their probabilities.

    The weight of a cluster is the sum of exp(mean log-probability) over its distinct texts, divided
    by the sum over all clusters. It is the paper's Rao-Blackwellised estimate with probabilities
    normalized by length.

    Parameters
    ----------
    clusters : (m,) labels.
    mean_logprobs : (m,) finite; natural log-probability of a sample divided by its tokens.
    texts : (m,) the samples; of equal texts only the first counts. None if all are distinct.

    Returns
    -------
    None for fewer than two samples.
    """
    m = len(clusters)
    if m < 2:
        return None
    logs = np.asarray(mean_logprobs, dtype=np.float64)
    labels = np.asarray(clusters)
    if texts is not None:
        # Reversed, so that the first of equal texts is the one that stays.
        distinct = list({text: row for row, text in reversed(list(enumerate(texts)))}.values())
        logs, labels = logs[distinct], labels[distinct]
    # Only ratios matter; subtracting the greatest avoids underflow.
    weights = np.exp(logs - logs.max())
    cluster = np.unique(labels, return_inverse=True)[1]
    sums = np.bincount(cluster, weights)
    return _compute_entropy(sums / sums.sum())


def estimate_meaning_coverage(clusters: Sequence[int] | Integers) -> float:
    """Return the share of the model's probability on the meanings seen, by Good and Turing.

    It is 1 less the share of replies whose meaning occurs once (Good 1953). If every meaning occurs
    once this would be 0; then it is 1/m, as if one of them had occurred again (Chao and Shen 2003).

    Parameters
    ----------
    clusters : (m,) labels of one or more replies.
    """
    m = len(clusters)
    counts = np.unique(np.asarray(clusters), return_counts=True)[1]
    # At most m - 1, because coverage 0 would make the corrected entropy undefined.
    n_single = min(int((counts == 1).sum()), max(m - 1, 0))
    return 1.0 - n_single / m


def estimate_meaning_count(clusters: Sequence[int] | Integers) -> float | None:
    """Return the estimated number of a model's meanings, seen and unseen.

    It is the number of clusters divided by the coverage (Chao and Lee 1992, without skew). None for
    fewer than two replies.
    """
    if len(clusters) < 2:
        return None
    return len(np.unique(np.asarray(clusters))) / estimate_meaning_coverage(clusters)


def compute_coverage_entropy(clusters: Sequence[int] | Integers) -> float | None:
    """Return the semantic entropy of replies in nats, corrected for unseen meanings.

    The plug-in entropy (`compute_discrete_entropy`) is too low for few replies. Chao and Shen
    (2003) multiply the shares by the coverage C, and divide each summand by the probability that
    its meaning is seen at all: -sum Cp ln(Cp) / (1 - (1 - Cp)^m). None for fewer than two replies.
    """
    m = len(clusters)
    if m < 2:
        return None
    counts = np.unique(np.asarray(clusters), return_counts=True)[1]
    # Never 0, because the coverage is at least 1/m and each cluster has a member.
    p = estimate_meaning_coverage(clusters) * counts / m
    return max(0.0, -float((p * np.log(p) / (1.0 - (1.0 - p) ** m)).sum()))


def compute_kernel_entropy(kernel: ArrayLike) -> float | None:
    """Return the kernel language entropy of replies in nats (Nikitin et al. 2024).

    It is the von Neumann entropy of kernel/m: -sum v ln v over its eigenvalues v. With 1 for equal
    and 0 for different meanings it is the plug-in semantic entropy; similar meanings count in part.

    Parameters
    ----------
    kernel : (m, m) similarity of each two replies, positive semidefinite, 1 on the diagonal.

    Returns
    -------
    0 to ln m; None for fewer than two replies.
    """
    matrix = np.asarray(kernel, dtype=np.float64)
    m = len(matrix)
    if m < 2:
        return None
    # Rounding leaves eigenvalues of zero slightly below it.
    eigenvalues = np.maximum(np.linalg.eigvalsh(matrix / m), 0.0)
    return _compute_entropy(eigenvalues)
