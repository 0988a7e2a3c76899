"""How little an answer contradicts the exemplary one, by an entailment model."""

from __future__ import annotations

import numpy as np

from evaluation.evidence.baselines.aqer import Variant
from evaluation.evidence.baselines.corpus import Crowd, UnavailableError
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers
from evaluation.methods.cells import Floats

AQER = Variant()


@MeanOfAnswers
def contradiction(crowd: Crowd) -> Floats:
    """Return (N,) probabilities, below 0, that the answers contradict the exemplary one.

    0 for an answer that does not, -1 for one that surely does. The exemplary answer is that of
    `aqer`, the one of a voter nearest to the crowd's vector; it is itself held against the next
    nearest; NaN where there is no other. What `evaluate aqer --nli` says of an answer, but for the
    agreed facts.
    """
    contradicts = crowd.corpus.contradicts
    if contradicts is None:
        raise UnavailableError("no_nli_model")
    near = np.where(crowd.votes, AQER.answers(crowd), -np.inf)
    pairs = np.full((len(crowd.rows), 2), -1, dtype=np.int64)
    pairs[:, 1] = crowd.rows
    for question in np.unique(crowd.questions):
        here = np.flatnonzero(crowd.questions == question)
        best = here[np.argsort(-near[here], kind="stable")]
        best = best[np.isfinite(near[best])]
        if len(best):
            pairs[here, 0] = crowd.rows[best[0]]
            pairs[best[0], 0] = crowd.rows[best[1]] if len(best) > 1 else -1
    found = np.full(len(pairs), np.nan)
    held = pairs[:, 0] >= 0
    found[held] = -contradicts(pairs[held])
    return found
