"""Graded answers to try methods on: the grade of an answer is how many right words it has."""

import numpy as np

from annotations.exchange.graded import GradedAnswer
from evaluation.evidence.baselines import METHODS, Corpus
from evaluation.evidence.corpus import CorpusVectors

WORDS = ("current", "flows", "through", "closed", "circuit", "battery")


def answer(question: int, right: int, rng, worker: str = "") -> GradedAnswer:
    """An answer with so many of the six right words, filled up with words of its own."""
    words = [f"{word}{question}" for word in WORDS[:right]]
    words += [f"noise{rng.integers(10_000)}" for _ in range(len(WORDS) - right)]
    return GradedAnswer(f"q{question}", " ".join(words), float(right), worker)


def of_workers(n_workers: int = 12, n_questions: int = 12, seed: int = 0) -> list[GradedAnswer]:
    """Worker w has about w/2 right words in each answer."""
    rng = np.random.default_rng(seed)
    return [
        answer(q, int(np.clip(w // 2 + rng.integers(-1, 2), 0, 6)), rng, f"w{w}")
        for q in range(n_questions)
        for w in range(n_workers)
    ]


def of_nobody(n_answers: int, n_questions: int, grades=range(7), seed: int = 0):
    """Answers that nobody is known to have given."""
    rng = np.random.default_rng(seed)
    return [
        answer(q, int(rng.choice(list(grades))), rng)
        for q in range(n_questions)
        for _ in range(n_answers)
    ]


def corpus_of(crowds) -> Corpus:
    """Their corpus, in letters: no model is loaded."""
    answers = crowds.answers
    return Corpus(
        answers.texts, answers.questions, CorpusVectors(answers.texts).embed_texts, "tfidf-char"
    )


def some(*names: str):
    """Methods by their names."""
    return [METHODS[name] for name in names]
