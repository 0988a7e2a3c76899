"""Score answers by the consistency of their errors in two vector spaces (Chai et al. 2022)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.grams import compact_vectors
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines.corpus import Corpus, Crowd
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers

TOLERANCE = 1e-9
MOST_ITERATIONS = 100
# An answer on top of the crowd's own would take all the weight.
LEAST_ERROR = 1e-6
# Single words, of one letter too, and pairs of neighbours.
COLLOCATIONS = {"ngram_range": (1, 2), "sublinear_tf": True, "token_pattern": r"(?u)\b\w+\b"}


@MeanOfAnswers
def score_by_error_consistency(crowd: Crowd) -> Floats:
    """Return the negative error of each answer (Chai et al. 2022); 0 is best.

    Chai, Sun, Wang et al. 2022, "An error consistency based approach to answer aggregation in
    open-ended crowdsourcing", Information Sciences 608: each answer has a vector of local word
    collocation and one of the sentence's meaning; the true answer is the mean weighted by the
    reciprocals of the answers' errors; the errors are to be consistent between the two spaces.

    Adapted, for the published abstract is all that could be read: collocation is TF-IDF of single
    words and pairs of neighbours, meaning the vectors of the study, both of unit length; an
    answer's error is the mean of its distances to the true answer in the two spaces (the value
    that disagrees least with both), errors and true answers are computed in turn until they rest,
    and a worker is as good as its mean error is small: the paper aggregates and grades nobody.
    """
    spaces = [x[crowd.rows] for x in _compute_spaces(crowd.corpus)]
    question = crowd.questions
    size = (crowd.corpus.n_questions, len(question))
    of_question = sparse.csr_array((np.ones(size[1]), (question, np.arange(size[1]))), size)
    votes = crowd.votes.astype(np.float64)
    error = np.ones(len(question))
    for _ in range(MOST_ITERATIONS):
        weight = votes / np.maximum(error, LEAST_ERROR)
        total = (of_question @ weight)[:, None]
        before, error = error, np.zeros(len(question))
        for x in spaces:
            sums = of_question @ (weight[:, None] * x)
            truth = divide_where_positive(sums, total)
            error += np.linalg.norm(x - truth[question], axis=1) / len(spaces)
        # nanmax: errors on questions without a voter stay NaN.
        if np.nanmax(np.abs(error - before)) < TOLERANCE:
            break
    return -error


def _compute_spaces(corpus: Corpus) -> tuple[Floats, Floats]:
    """Return the collocation vectors and the unit-length meaning vectors, one row per answer."""

    def collocations() -> Floats:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return compact_vectors(
            TfidfVectorizer(**COLLOCATIONS).fit_transform(corpus.texts), corpus.members
        )

    x = corpus.compact_vectors(corpus.embedder)
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    meaning = divide_where_positive(x, norm, 0.0)
    return corpus.cache("collocations", collocations), meaning
