"""Crowds for tests of the alarms."""

import numpy as np

from evaluation.consensus import AQER
from evaluation.grading.alarms.methods import Pairs


def fitted(vectors, workers, questions, **switches):
    return AQER(n_draws=0, **switches).fit(vectors, workers, questions)


def pairs_of(vectors, workers, questions, **switches):
    """Pairs whose worker codes are those of a crowd numbered in order of first appearance."""
    return Pairs.from_vote(fitted(vectors, workers, questions, **switches).mean_vote_)


def pasted(crowd, who):
    """The vectors of a simulated crowd in which some workers all give the first one's answers."""
    vectors = crowd.vectors.copy()
    for question in range(crowd.n_questions):
        at = np.flatnonzero(crowd.questions == question)
        source = at[crowd.workers[at] == who[0]]
        vectors[at[np.isin(crowd.workers[at], who)]] = vectors[source]
    return vectors


def pairs_by_hand(cosine):
    """Pairs of workers with a cosine (M, M, Q) for each question both answered, else NaN."""
    left, right = np.triu_indices(len(cosine), 1)
    known = cosine[left, right]
    met = ~np.isnan(known).all(axis=1)
    left, right, known = left[met], right[met], known[met]
    pair, question = np.nonzero(~np.isnan(known))
    return Pairs(left, right, pair, question, known[pair, question], len(cosine), cosine.shape[2])
