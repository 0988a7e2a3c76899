"""Score answers with an entailment model, alone and beside AQER.

Without a reference answer, an answer is compared with the exemplary answer: the voter's answer
nearest to the crowd's vector.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.core.stats.cells import Floats, Integers
from evaluation.evidence.baselines.corpus import Crowd, MeanAnswerScore, UnavailableError
from evaluation.evidence.baselines.weighting import AqerVariant

PLAIN_AQER = AqerVariant()


def pair_with_exemplary(crowd: Crowd) -> Integers:
    """Return for each answer its question's exemplary answer and itself, as corpus rows.

    Shape (N, 2), -1 without an exemplary answer. That is the voter's answer with the highest AQER
    score; it is itself paired with the second.
    """
    closeness = np.where(crowd.votes, PLAIN_AQER.score_answers(crowd), -np.inf)
    pairs = np.full((len(crowd.rows), 2), -1, dtype=np.int64)
    pairs[:, 1] = crowd.rows
    for question in np.unique(crowd.questions):
        rows = np.flatnonzero(crowd.questions == question)
        nearest = rows[np.argsort(-closeness[rows], kind="stable")]
        nearest = nearest[np.isfinite(closeness[nearest])]
        if len(nearest):
            pairs[rows, 0] = crowd.rows[nearest[0]]
            # The exemplary answer cannot contradict itself: it is compared with the next nearest
            # one.
            pairs[nearest[0], 0] = crowd.rows[nearest[1]] if len(nearest) > 1 else -1
    return pairs


def _score_pairs(crowd: Crowd, score: Callable[[Integers], Floats] | None) -> Floats:
    """Return `score` of each answer's pair with the exemplary answer; NaN without a pair."""
    if score is None:
        raise UnavailableError("no_nli_model")
    pairs = pair_with_exemplary(crowd)
    scores = np.full(len(pairs), np.nan)
    has_pair = pairs[:, 0] >= 0
    scores[has_pair] = score(pairs[has_pair])
    return scores


@MeanAnswerScore
def score_contradiction(crowd: Crowd) -> Floats:
    """Return the negative probability that each answer contradicts the exemplary one; 0 is best.

    0 for an answer that does not, -1 for one that surely does; NaN without another answer.
    `evaluate aqer --nli` reports the same for an answer, and also uses the agreed facts.
    """
    return -_score_pairs(crowd, crowd.corpus.contradicts)


@MeanAnswerScore
def score_entailment(crowd: Crowd) -> Floats:
    """Return the probability that the exemplary answer entails each answer, 0 to 1."""
    return _score_pairs(crowd, crowd.corpus.entails)


@MeanAnswerScore
def score_entailment_by_reference(crowd: Crowd) -> Floats:
    """Return the probability that the reference answer entails each answer, 0 to 1."""
    if crowd.corpus.reference_entails is None:
        no_model = crowd.corpus.entails is None
        raise UnavailableError("no_nli_model" if no_model else "no_reference_answers")
    return crowd.corpus.reference_entails(crowd.rows)


@MeanAnswerScore
def score_aqer_and_entailment(crowd: Crowd) -> Floats:
    """Return the sum of z-scores of AQER and `score_entailment` of each answer."""
    return _add_z_scores(PLAIN_AQER.score_answers(crowd), score_entailment.score_answers(crowd))


@MeanAnswerScore
def score_aqer_and_reference(crowd: Crowd) -> Floats:
    """Return the sum of z-scores of AQER and `score_entailment_by_reference` of each answer."""
    return _add_z_scores(
        PLAIN_AQER.score_answers(crowd), score_entailment_by_reference.score_answers(crowd)
    )


def _add_z_scores(first: Floats, second: Floats) -> Floats:
    """Return the sum of the z-scores of two scores over the answers; NaN where one is NaN.

    Equal weights, so that nothing is fitted to the truth. Equal scores count as 0.
    """
    known = ~np.isnan(first + second)
    total = np.full(len(first), np.nan)
    total[known] = 0.0
    for scores in (first[known], second[known]):
        # An empty array has no mean, and equal scores no deviation.
        spread = scores.std() if len(scores) else 0.0
        if spread > 1e-12:
            total[known] += (scores - scores.mean()) / spread
    return total
