"""Score answers by BERTScore against the other answers, with MiniLM's token vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.core.backends import BackendError
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines.corpus import Corpus, Crowd, UnavailableError
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers


@MeanOfAnswers
def score_by_bertscore(crowd: Crowd) -> Floats:
    """Return each answer's mean BERTScore F1 against the other answers to its question.

    Zhang et al. 2020, greedy matching by cosine, without idf and without a baseline to rescale by.
    Adapted: the other answers to the question stand for the reference, and the vectors are those
    of the last layer of all-MiniLM-L6-v2, which comes with the platform, instead of RoBERTa's.
    """
    return crowd.compute_mean_to_others(_tabulate_bertscore(crowd.corpus))


def compute_bertscore_f1(tokens: Sequence[Floats]) -> Floats:
    """Return the matrix of BERTScore F1 between texts, from each text's token vectors.

    Precision [i, j] is the mean, over the tokens of i, of the greatest cosine to a token of j;
    recall is precision [j, i]. 0 for a text without tokens, or where the two sum to 0 or less.
    """
    n = len(tokens)
    sizes = np.array([len(some) for some in tokens])
    precision = np.zeros((n, n))
    some = np.flatnonzero(sizes)
    if not len(some):
        return precision
    x = np.concatenate([tokens[at] for at in some.tolist()])
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    starts = np.concatenate([[0], np.cumsum(sizes[some])[:-1]])
    # One product over all tokens, reduced per text, in place of a loop over pairs.
    best = np.maximum.reduceat(x @ x.T, starts, axis=1)
    means = np.add.reduceat(best, starts, axis=0) / sizes[some][:, None]
    precision[np.ix_(some, some)] = means
    total = precision + precision.T
    return divide_where_positive(2 * precision * precision.T, total, 0.0)


def _tabulate_bertscore(corpus: Corpus) -> Floats:
    """Return the table (question, answer, answer) of BERTScore F1; frees the token vectors."""

    def tokens() -> list[Floats]:
        from evaluation.core.backends.embedding.minilm import load_minilm

        try:
            return load_minilm().token_vectors(corpus.texts)
        except BackendError as error:
            raise UnavailableError("no_minilm") from error

    def table(rows: Integers) -> Floats:
        vectors = corpus.cache("tokens", tokens)
        return compute_bertscore_f1([vectors[row] for row in rows])

    pairs = corpus.tabulate_pairs("bertscore", table)
    corpus.forget("tokens")
    return pairs
