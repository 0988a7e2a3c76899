"""Measure the expert grade of the answer that each rule chooses for a question.

The best response is the answer nearest to the exemplary answer. Other ways to choose one stand
beside it, from a blind choice to the best answer that anybody gave. Source: 6.3.2 and app. I.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import convert_to_dense
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines import METHODS, Crowd, UnavailableError, Variant
from evaluation.evidence.baselines.lexical import (
    compute_sentence_bleu,
    compute_token_f1,
    split_words,
    tabulate_token_similarity,
    tokenize_squad,
)

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


def build_variant_merit(name: str) -> Merit:
    """Return a function that rates answers by their similarity to a variant's exemplary answer."""

    def merit(crowd: Crowd) -> Floats:
        variant = METHODS[name].score
        assert isinstance(variant, Variant)
        return variant.fit_voters(crowd)[0].final_scores_

    return merit


def rate_by_best_worker(crowd: Crowd) -> Floats:
    """Return each answer's rating: the raw score of its worker."""
    model, _ = Variant().fit_voters(crowd)
    return np.asarray(model.raw_[np.argsort(model.workers_)][crowd.workers])


def rate_by_mean_vote(crowd: Crowd) -> Floats:
    """Return each answer's cosine to the plain mean of its question's answers."""
    x = crowd.corpus.compact_vectors(crowd.corpus.embedder)[crowd.rows]
    mean = np.zeros((crowd.corpus.n_questions, x.shape[1]))
    np.add.at(mean, crowd.questions, x)
    return _compute_cosines(x, mean[crowd.questions])


def rate_by_reference(crowd: Crowd) -> Floats:
    """Return each answer's cosine to the instructor's reference answer."""
    corpus = crowd.corpus
    if corpus.references is None:
        raise UnavailableError("no_reference_answers")
    x = convert_to_dense(corpus.vectors(corpus.embedder)[crowd.rows])
    y = convert_to_dense(corpus.references(corpus.embedder))
    return _compute_cosines(x, y[crowd.questions])


def rate_by_bleu(crowd: Crowd) -> Floats:
    """Return each answer's mean BLEU-4 against the other answers to its question."""
    pairs = tabulate_token_similarity(
        crowd.corpus, "bleu4", split_words, lambda a, b: compute_sentence_bleu(a, b, 4)
    )
    return crowd.compute_mean_to_others(pairs)


def rate_by_token_f1(crowd: Crowd) -> Floats:
    """Return each answer's mean token F1 against the other answers to its question."""
    return crowd.compute_mean_to_others(
        tabulate_token_similarity(crowd.corpus, "f1", tokenize_squad, compute_token_f1)
    )


def rate_by_frequency(crowd: Crowd) -> Floats:
    """Return how many answers to the question equal each answer, in normalised words."""
    forms = [
        (int(question), *split_words(crowd.corpus.texts[row]))
        for question, row in zip(crowd.questions, crowd.rows, strict=True)
    ]
    counts = Counter(forms)
    return np.array([counts[form] for form in forms], dtype=np.float64)


def rate_by_length(crowd: Crowd) -> Floats:
    """Return each answer's number of words."""
    return np.array([len(split_words(crowd.corpus.texts[row])) for row in crowd.rows], dtype=float)


def rate_equally(crowd: Crowd) -> Floats:
    """Return zeros: every answer of a question is chosen with equal odds."""
    return np.zeros(len(crowd.rows))


MERITS: dict[str, Merit] = {
    "aqer": build_variant_merit("aqer"),
    "aqer_one_pass": build_variant_merit("aqer_one_pass"),
    "leave_one_out": build_variant_merit("leave_one_out"),
    "tfidf_word": build_variant_merit("tfidf_word"),
    "tfidf_char": build_variant_merit("tfidf_char"),
    "best_worker": rate_by_best_worker,
    "mean_vote": rate_by_mean_vote,
    "bleu4": rate_by_bleu,
    "f1": rate_by_token_f1,
    "frequent": rate_by_frequency,
    "longest": rate_by_length,
    "random": rate_equally,
    "reference_answer": rate_by_reference,
}
ORACLE = "best_possible"


@dataclass(frozen=True)
class ChosenAnswers:
    """Grade of each question's chosen answer, and its probability of being among the best."""

    grade: Floats
    best: Floats


def choose_answers(crowd: Crowd, merit: Floats, grades: Floats) -> ChosenAnswers:
    """Choose the top-rated answer to each question; ties are chosen with equal odds.

    `grades` are those of the corpus's rows. Rounding does not make answers unequal.
    """
    own_grades = grades[crowd.rows]
    n = crowd.corpus.n_questions
    greatest, best = np.full(n, -np.inf), np.full(n, -np.inf)
    np.maximum.at(greatest, crowd.questions, merit)
    np.maximum.at(best, crowd.questions, own_grades)
    is_top = (merit >= greatest[crowd.questions] - 1e-12).astype(np.float64)
    n_top = np.bincount(crowd.questions, weights=is_top, minlength=n)
    answered = n_top > 0
    grade = _sum_by_question(crowd.questions, is_top * own_grades, n)[answered] / n_top[answered]
    is_best = is_top * (own_grades == best[crowd.questions])
    return ChosenAnswers(
        grade, _sum_by_question(crowd.questions, is_best, n)[answered] / n_top[answered]
    )


def compare_choices(
    setting: str, crowds: Sequence[Crowd], grades: Floats
) -> tuple[list[tuple[object, ...]], dict[str, str]]:
    """Return the table rows of all rules, and the reasons for missing rows.

    The interval is Student's over the questions, of their means over the repetitions.
    """
    rows: list[tuple[object, ...]] = []
    reasons: dict[str, str] = {}

    def rate_by_grade(crowd: Crowd) -> Floats:
        return grades[crowd.rows]

    for name, merit in {**MERITS, ORACLE: rate_by_grade}.items():
        try:
            chosen = [choose_answers(crowd, merit(crowd), grades) for crowd in crowds]
        except UnavailableError as error:
            reasons[name] = error.reason
            continue
        by_question = np.mean([found.grade for found in chosen], axis=0)
        n = len(by_question)
        error_of_mean = by_question.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        half_width = float(stats.t.ppf(0.975, n - 1) * error_of_mean) if n > 1 else None
        mean = float(by_question.mean())
        low, high = (None, None) if half_width is None else (mean - half_width, mean + half_width)
        best = float(np.mean([found.best for found in chosen]))
        rows.append((setting, name, mean, low, high, best, n, len(crowds)))
    return rows, reasons


def _sum_by_question(questions: Integers, values: Floats, n: int) -> Floats:
    """Return the sum of the values for each question code."""
    return np.bincount(questions, weights=values, minlength=n).astype(np.float64, copy=False)


def _compute_cosines(x: Floats, y: Floats) -> Floats:
    """Return the cosines of paired rows; 0 if a row is zero."""
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    inner = np.einsum("nd,nd->n", x, y)
    return divide_where_positive(inner, norms, 0.0)
