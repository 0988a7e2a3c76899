"""Score workers by the reliabilities of RASA and HRRASA (sequence aggregation).

Both estimate an answer to each question as a weighted mean of vectors, and a worker's reliability
as the inverse of its squared distances to these, in turn. crowd-kit has both, and tests compare the
numbers to 1e-12. Here they run on arrays: crowd-kit takes about 85 times as long, knows no
workers who are scored without a vote (`Crowd.voting`), and needs an older pandas.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse, stats

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines.corpus import Corpus, Crowd
from evaluation.evidence.baselines.lexical import tabulate_gleu

ALPHA = 0.05
TOLERANCE = 1e-9
MOST_ITERATIONS = 100
# No worker comes nearer to the crowd than this squared distance in all.
NEAREST = 1e-5


def score_by_rasa(crowd: Crowd) -> Floats:
    """Return each worker's reliability by RASA, above 0 (Li and Fukumoto 2019).

    By the vectors of the study instead of the Universal Sentence Encoder; constants as in
    crowd-kit. NaN for a worker without answers.
    """
    return _estimate_reliabilities(crowd, np.ones(len(crowd.rows)))


def score_by_hrrasa(crowd: Crowd) -> Floats:
    """Return each worker's global reliability by HRRASA, above 0 (Li 2020).

    An answer's own reliability is half the mean of exp(-|x - y|^2 / (|x|^2 |y|^2)) and half the
    mean sentence GLEU over the other answers to its question. Questions with a single answer are
    left out. Adapted: vectors as in `score_by_rasa`, and GLEU between words (crowd-kit's default
    compares the words of one answer with the letters of the other).
    """
    local = crowd.compute_mean_to_others(_tabulate_nearness(crowd.corpus)) / 2
    local += crowd.compute_mean_to_others(tabulate_gleu(crowd.corpus)) / 2
    # Where only one worker votes there is no answer of the crowd, for outsiders either.
    voters = crowd.present.sum(axis=1)[crowd.questions]
    return _estimate_reliabilities(crowd, np.where(voters > 1, local, np.nan))


def _tabulate_nearness(corpus: Corpus) -> Floats:
    """Return the table (question, answer, answer) of exp(-|x - y|^2 / (|x|^2 |y|^2))."""
    x = corpus.compact_vectors(corpus.embedder)

    def table(rows: np.ndarray) -> Floats:
        squared = np.einsum("nd,nd->n", x[rows], x[rows])
        distance = np.maximum(squared[:, None] + squared - 2 * x[rows] @ x[rows].T, 0.0)
        product = squared[:, None] * squared
        infinite = np.full_like(product, np.inf)
        return np.exp(-np.divide(distance, product, out=infinite, where=product > 0))

    return corpus.tabulate_pairs(("nearness", corpus.embedder), table)


def _estimate_reliabilities(crowd: Crowd, local: Floats) -> Floats:
    """Return each worker's reliability from local answer reliabilities; NaN omits an answer."""
    keep = ~np.isnan(local)
    x = crowd.corpus.compact_vectors(crowd.corpus.embedder)[crowd.rows[keep]]
    worker, question, local = crowd.workers[keep], crowd.questions[keep], local[keep]
    votes = crowd.votes[keep].astype(np.float64)
    m, size = crowd.n_workers, (crowd.corpus.n_questions, len(worker))
    of_question = sparse.csr_array((np.ones(len(worker)), (question, np.arange(size[1]))), size)
    answered = np.bincount(worker, minlength=m)
    prior = np.where(answered > 0, stats.chi2.isf(ALPHA / 2, np.maximum(answered, 1)), np.nan)
    # RASA starts from equal reliabilities, HRRASA from those of the answers.
    skill, last = np.ones(m), None
    for _ in range(MOST_ITERATIONS):
        weight = np.where(votes > 0, skill[worker], 0.0) * local
        total = (of_question @ weight)[:, None]
        total_vector = of_question @ (weight[:, None] * x)
        mean = divide_where_positive(total_vector, total, 0.0)
        offset = x - mean[question]
        distance = np.einsum("nd,nd->n", offset, offset) / local
        skill = prior / np.maximum(np.bincount(worker, distance, minlength=m), NEAREST)
        if last is not None and ((mean - last) ** 2).sum() < TOLERANCE * (mean**2).sum():
            break
        last = mean
    return np.asarray(skill)
