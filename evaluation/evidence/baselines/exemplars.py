"""Score answers against unweighted exemplary answers: the modal one, the mean, the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.grams import convert_to_dense
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines.corpus import Crowd, UnavailableError
from evaluation.evidence.baselines.lexical import split_words
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers


@MeanOfAnswers
def score_by_modal_answer(crowd: Crowd) -> Floats:
    """Return the cosine of each answer to the question's most frequent answer.

    Answers count as equal in lower case and without punctuation. Ties go to the answer that comes
    first in the corpus, which in long answers is almost always so: nobody writes the same twice.
    Adapted: the share of answers that equal the mode would be the same for nearly all workers, so
    likeness to it is taken, by the vectors of the study.
    """
    corpus, x = crowd.corpus, _normalise_rows(crowd.corpus.compact_vectors(crowd.corpus.embedder))
    mode = np.full(corpus.n_questions, -1)
    rows_by_question: dict[int, list[int]] = {}
    for answer in crowd.order[crowd.votes[crowd.order]]:
        rows_by_question.setdefault(int(crowd.questions[answer]), []).append(
            int(crowd.rows[answer])
        )
    for question, rows in rows_by_question.items():
        forms = [" ".join(split_words(corpus.texts[row])) for row in rows]
        # The first of the most common ones: counters keep the order of first appearance.
        mode[question] = rows[forms.index(Counter(forms).most_common(1)[0][0])]
    modal_row = mode[crowd.questions]
    cosine = np.einsum("nd,nd->n", x[crowd.rows], x[modal_row])
    return np.where(modal_row >= 0, cosine, np.nan)


@MeanOfAnswers
def score_by_mean_vote(crowd: Crowd) -> Floats:
    """Return the cosine of each answer to the plain mean vector of the voters' answers.

    For workers who all vote this is AQER's first round, under another name.
    """
    corpus = crowd.corpus
    x = corpus.compact_vectors(corpus.embedder)
    mean = np.zeros((corpus.n_questions, x.shape[1]))
    np.add.at(mean, crowd.questions[crowd.votes], x[crowd.rows[crowd.votes]])
    cosine = np.einsum(
        "nd,nd->n", _normalise_rows(x[crowd.rows]), _normalise_rows(mean)[crowd.questions]
    )
    answered = np.bincount(crowd.questions[crowd.votes], minlength=corpus.n_questions) > 0
    return np.where(answered[crowd.questions], cosine, np.nan)


@MeanOfAnswers
def score_by_reference(crowd: Crowd) -> Floats:
    """Return the cosine of each answer to the instructor's reference answer.

    Not a baseline: it knows the key. It shows what the vectors can tell with one.
    """
    corpus = crowd.corpus
    if corpus.references is None:
        raise UnavailableError("no_reference_answers")
    spec, references = corpus.embedder, corpus.references

    def cosines() -> Floats:
        x, y = corpus.vectors(spec), references(spec)
        similarities = np.empty(len(corpus.texts))
        for question, rows in enumerate(corpus.members):
            similarities[rows] = (
                _normalise_rows(convert_to_dense(x[rows]))
                @ _normalise_rows(convert_to_dense(y[[question]])).T
            )[:, 0]
        return similarities

    return corpus.cache(("reference", spec), cosines)[crowd.rows]


def _normalise_rows(x: Floats) -> Floats:
    """Return the rows scaled to unit length; zero rows stay zero."""
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    return divide_where_positive(x, norm, 0.0)
