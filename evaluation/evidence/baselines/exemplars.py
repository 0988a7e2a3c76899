"""Exemplary answers without weights: the frequent answer, the plain mean, the supervisor's own."""

from __future__ import annotations

from collections import Counter

import numpy as np

from evaluation.evidence.baselines.corpus import Crowd, UnavailableError
from evaluation.evidence.baselines.lexical import words_of
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers
from evaluation.methods.cells import Floats
from evaluation.methods.grams import dense
from evaluation.methods.undefined import ratio


@MeanOfAnswers
def frequent(crowd: Crowd) -> Floats:
    """Return (N,) cosines of the answers to the most frequent one.

    Answers count as equal in lower case and without punctuation. Ties go to the answer that comes
    first in the corpus, which in long answers is almost always so: nobody writes the same twice.
    Adapted: the share of answers that equal the mode would be the same for nearly all workers, so
    likeness to it is taken, by the vectors of the study.
    """
    corpus, x = crowd.corpus, _units(crowd.corpus.compact(crowd.corpus.embedder))
    mode = np.full(corpus.n_questions, -1)
    of_question: dict[int, list[int]] = {}
    for at in crowd.order[crowd.votes[crowd.order]]:
        of_question.setdefault(int(crowd.questions[at]), []).append(int(crowd.rows[at]))
    for question, rows in of_question.items():
        forms = [" ".join(words_of(corpus.texts[row])) for row in rows]
        # The first of the most common ones: counters keep the order of first appearance.
        mode[question] = rows[forms.index(Counter(forms).most_common(1)[0][0])]
    nearest = mode[crowd.questions]
    cosine = np.einsum("nd,nd->n", x[crowd.rows], x[nearest])
    return np.where(nearest >= 0, cosine, np.nan)


@MeanOfAnswers
def mean_vote(crowd: Crowd) -> Floats:
    """Return (N,) cosines of the answers to the plain mean of all answers' vectors.

    For workers who all vote this is AQER's first round, under another name.
    """
    corpus = crowd.corpus
    x = corpus.compact(corpus.embedder)
    mean = np.zeros((corpus.n_questions, x.shape[1]))
    np.add.at(mean, crowd.questions[crowd.votes], x[crowd.rows[crowd.votes]])
    cosine = np.einsum("nd,nd->n", _units(x[crowd.rows]), _units(mean)[crowd.questions])
    answered = np.bincount(crowd.questions[crowd.votes], minlength=corpus.n_questions) > 0
    return np.where(answered[crowd.questions], cosine, np.nan)


@MeanOfAnswers
def reference_answer(crowd: Crowd) -> Floats:
    """Return (N,) cosines of the answers to the supervisor's own answers.

    Not a baseline: it knows the key. It shows what the vectors can tell with one.
    """
    corpus = crowd.corpus
    if corpus.references is None:
        raise UnavailableError("no_reference_answers")
    spec, references = corpus.embedder, corpus.references

    def cosines() -> Floats:
        x, y = corpus.vectors(spec), references(spec)
        found = np.empty(len(corpus.texts))
        for question, rows in enumerate(corpus.members):
            found[rows] = (_units(dense(x[rows])) @ _units(dense(y[[question]])).T)[:, 0]
        return found

    return corpus.once(("reference", spec), cosines)[crowd.rows]


def _units(x: Floats) -> Floats:
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    return ratio(x, norm, 0.0)
