"""Score answers by how little they contradict the exemplary answer, with an entailment model."""

from __future__ import annotations

import numpy as np

from evaluation.core.stats.cells import Floats
from evaluation.evidence.baselines.aqer import Variant
from evaluation.evidence.baselines.corpus import Crowd, UnavailableError
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers

AQER = Variant()


@MeanOfAnswers
def score_contradiction(crowd: Crowd) -> Floats:
    """Return each answer's negative probability to contradict the exemplary one; 0 is best.

    0 for an answer that does not, -1 for one that surely does. The exemplary answer is that of
    `aqer`, the one of a voter nearest to the crowd's vector; it is itself held against the next
    nearest; NaN where there is no other. What `evaluate aqer --nli` says of an answer, but for the
    agreed facts.
    """
    contradicts = crowd.corpus.contradicts
    if contradicts is None:
        raise UnavailableError("no_nli_model")
    closeness = np.where(crowd.votes, AQER.answers(crowd), -np.inf)
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
    scores = np.full(len(pairs), np.nan)
    has_pair = pairs[:, 0] >= 0
    scores[has_pair] = -contradicts(pairs[has_pair])
    return scores
