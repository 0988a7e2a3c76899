"""Small crowds for tests of the methods."""

import numpy as np


def crowd(seed, workers=7, questions=6, dimension=5, answered=0.7, noise=None, binary=False):
    """Return vectors (N, d), workers (N,), questions (N,) of a ragged crowd around a truth."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((questions, dimension))
    level = np.linspace(0.2, 2.0, workers) if noise is None else np.full(workers, noise)
    x, who, what = [], [], []
    for i in range(workers):
        for j in range(questions):
            if rng.random() < answered or (i == 0 and j == 0):
                vector = truth[j] + level[i] * rng.standard_normal(dimension)
                x.append((vector > 0).astype(float) if binary else vector)
                who.append(f"worker {i}")
                what.append(f"question {j}")
    order = rng.permutation(len(x))
    return np.array(x)[order], np.array(who)[order], np.array(what)[order]


def as_answers(vectors, workers, questions):
    """Return the same as a dictionary for the literal loop."""
    keys = zip(workers.tolist(), questions.tolist(), strict=True)
    return dict(zip(keys, vectors, strict=True))
