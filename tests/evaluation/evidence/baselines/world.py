"""Small crowds whose every score can be reckoned by hand."""

import numpy as np

from evaluation.evidence.baselines import Corpus, Crowd

TEXTS = [
    "the stack is last in first out",  # ann
    "a stack is last in, first out",  # bob
    "a queue is first in first out",  # cy
    "pointers hold addresses",  # ann
    "Pointers hold addresses!",  # bob
    "no idea",  # cy
]
QUESTIONS = [1, 1, 1, 2, 2, 2]
WORKERS = np.array([0, 1, 2, 0, 1, 2])
# Two dimensions: ann and bob near each other, cy away.
VECTORS = np.array([[1, 0], [0.8, 0.6], [0, 1], [1, 0], [1, 0], [0, 1]], dtype=np.float32)


def corpus(texts=TEXTS, questions=QUESTIONS, vectors=VECTORS, **more):
    return Corpus(texts, questions, lambda spec: vectors, **more)


def crowd(*, of=None, rows=None, workers=WORKERS, **more):
    of = of or corpus()
    return Crowd(of, np.arange(len(of.texts)) if rows is None else rows, workers, **more)


def random_corpus(seed=0, n_questions=6, n_answers=9, d=20, **more):
    """Answers of made-up words and vectors of their own."""
    rng = np.random.default_rng(seed)
    words = np.array(["alpha", "beta", "gamma", "delta", "the", "zeta", "eta", "theta"])
    texts = [
        " ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(n_questions * n_answers)
    ]
    vectors = rng.normal(size=(len(texts), d)) + 0.7
    questions = rng.permutation(np.repeat([f"q{j}" for j in range(n_questions)], n_answers))
    return corpus(texts, questions, vectors, **more)


def random_crowd(seed=0, n_workers=7, leave_out=0.0, **more):
    """Every worker answers every question, but for a share left out."""
    of = random_corpus(seed, **more)
    rng = np.random.default_rng(seed + 1)
    rows, workers = [], []
    for members in of.members:
        rows.append(rng.permutation(members)[:n_workers])
        workers.append(np.arange(n_workers))
    rows, workers = np.concatenate(rows), np.concatenate(workers)
    keep = rng.random(len(rows)) >= leave_out
    return Crowd(of, rows[keep], workers[keep])
