"""How good the answer is that is chosen for a question, by the experts' grade.

The best response is the answer nearest to the exemplary answer. Other ways to choose one stand
beside it, from a blind choice to the best answer that anybody gave. Source: 6.3.2 and app. I.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluation.evidence.baselines import METHODS, Crowd, UnavailableError, Variant
from evaluation.evidence.baselines.lexical import (
    pairwise,
    sentence_bleu,
    squad_tokens,
    token_f1,
    words_of,
)
from evaluation.methods.cells import Floats, Integers
from evaluation.methods.grams import dense
from evaluation.methods.undefined import ratio

HEADER = (
    "setting",
    "method",
    "grade_mean",
    "grade_low",
    "grade_high",
    "best_share",
    "questions",
    "repetitions",
)

# From a crowd to (N,) how good an answer seems: the greatest of a question is chosen.
Merit = Callable[[Crowd], Floats]


def by_variant(name: str) -> Merit:
    """Nearness to the exemplary answer of a variant of AQER."""

    def merit(crowd: Crowd) -> Floats:
        variant = METHODS[name].score
        assert isinstance(variant, Variant)
        return variant.fitted(crowd)[0].final_scores_

    return merit


def by_best_worker(crowd: Crowd) -> Floats:
    """The raw score of the worker: the answer of the best worker is taken everywhere."""
    model, _ = Variant().fitted(crowd)
    return np.asarray(model.raw_[np.argsort(model.workers_)][crowd.workers])


def by_mean_vote(crowd: Crowd) -> Floats:
    """Cosine to the plain mean of all answers."""
    x = crowd.corpus.compact(crowd.corpus.embedder)[crowd.rows]
    mean = np.zeros((crowd.corpus.n_questions, x.shape[1]))
    np.add.at(mean, crowd.questions, x)
    return _cosines(x, mean[crowd.questions])


def by_reference(crowd: Crowd) -> Floats:
    """Cosine to the supervisor's own answer: it knows the key."""
    corpus = crowd.corpus
    if corpus.references is None:
        raise UnavailableError("no_reference_answers")
    x = dense(corpus.vectors(corpus.embedder)[crowd.rows])
    y = dense(corpus.references(corpus.embedder))
    return _cosines(x, y[crowd.questions])


def by_bleu(crowd: Crowd) -> Floats:
    """Mean BLEU-4 against each of the other answers."""
    pairs = pairwise(crowd.corpus, "bleu4", words_of, lambda a, b: sentence_bleu(a, b, 4))
    return crowd.against_others(pairs)


def by_f1(crowd: Crowd) -> Floats:
    """Mean token F1 against each of the other answers."""
    return crowd.against_others(pairwise(crowd.corpus, "f1", squad_tokens, token_f1))


def by_frequency(crowd: Crowd) -> Floats:
    """How often the answer was given, but for case and punctuation."""
    forms = [
        (int(question), *words_of(crowd.corpus.texts[row]))
        for question, row in zip(crowd.questions, crowd.rows, strict=True)
    ]
    counts = Counter(forms)
    return np.array([counts[form] for form in forms], dtype=np.float64)


def by_length(crowd: Crowd) -> Floats:
    """How many words the answer has."""
    return np.array([len(words_of(crowd.corpus.texts[row])) for row in crowd.rows], dtype=float)


def by_nothing(crowd: Crowd) -> Floats:
    """All alike: what a random choice is worth on average."""
    return np.zeros(len(crowd.rows))


MERITS: dict[str, Merit] = {
    "aqer": by_variant("aqer"),
    "aqer_one_pass": by_variant("aqer_one_pass"),
    "leave_one_out": by_variant("leave_one_out"),
    "tfidf_word": by_variant("tfidf_word"),
    "tfidf_char": by_variant("tfidf_char"),
    "best_worker": by_best_worker,
    "mean_vote": by_mean_vote,
    "bleu4": by_bleu,
    "f1": by_f1,
    "frequent": by_frequency,
    "longest": by_length,
    "random": by_nothing,
    "reference_answer": by_reference,
}
ORACLE = "best_possible"


@dataclass(frozen=True)
class Chosen:
    """(Q,) grade of the chosen answer, and how likely it is one of the best of its question."""

    grade: Floats
    best: Floats


def choose(crowd: Crowd, merit: Floats, grades: Floats) -> Chosen:
    """Choose the answer of greatest merit to each question; among equal ones, any with equal odds.

    `grades` are those of the corpus's rows. Rounding does not make answers unequal.
    """
    own = grades[crowd.rows]
    n = crowd.corpus.n_questions
    greatest, best = np.full(n, -np.inf), np.full(n, -np.inf)
    np.maximum.at(greatest, crowd.questions, merit)
    np.maximum.at(best, crowd.questions, own)
    taken = (merit >= greatest[crowd.questions] - 1e-12).astype(np.float64)
    count = np.bincount(crowd.questions, weights=taken, minlength=n)
    there = count > 0
    grade = _sums(crowd.questions, taken * own, n)[there] / count[there]
    equal = taken * (own == best[crowd.questions])
    return Chosen(grade, _sums(crowd.questions, equal, n)[there] / count[there])


def choices(
    setting: str, crowds: Sequence[Crowd], grades: Floats
) -> tuple[list[tuple[object, ...]], dict[str, str]]:
    """Return rows of `HEADER`, and why a method has none.

    The interval is Student's over the questions, of their means over the repetitions.
    """
    rows: list[tuple[object, ...]] = []
    missing: dict[str, str] = {}

    def by_grade(crowd: Crowd) -> Floats:
        return grades[crowd.rows]

    for name, merit in {**MERITS, ORACLE: by_grade}.items():
        try:
            chosen = [choose(crowd, merit(crowd), grades) for crowd in crowds]
        except UnavailableError as error:
            missing[name] = error.reason
            continue
        by_question = np.mean([found.grade for found in chosen], axis=0)
        n = len(by_question)
        error_of_mean = by_question.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        reach = float(stats.t.ppf(0.975, n - 1) * error_of_mean) if n > 1 else None
        mean = float(by_question.mean())
        low, high = (None, None) if reach is None else (mean - reach, mean + reach)
        best = float(np.mean([found.best for found in chosen]))
        rows.append((setting, name, mean, low, high, best, n, len(crowds)))
    return rows, missing


def _sums(questions: Integers, values: Floats, n: int) -> Floats:
    return np.bincount(questions, weights=values, minlength=n).astype(np.float64, copy=False)


def _cosines(x: Floats, y: Floats) -> Floats:
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    inner = np.einsum("nd,nd->n", x, y)
    return ratio(inner, norms, 0.0)
