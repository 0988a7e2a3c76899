"""What we are compared with: AQER written plainly, crowd-kit's nearest relative, scikit-learn.

`PerPair`, `numpy_loop` and `gram_loop` compute what `AQER` computes, by the same rules: cosine,
equal weights at first, relative stopping. The first two are handed float64 vectors, ready to use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tests.benchmarks.crowds import BenchmarkCrowd

Floats = NDArray[np.float64]
Similarity = Callable[[Floats, Floats], float]


@dataclass(frozen=True)
class Stopping:
    """When to stop: M * RMSE of the weights below `tolerance`, at most `max_iterations` rounds."""

    tolerance: float = 1e-6
    max_iterations: int = 100


@dataclass(frozen=True)
class Grading:
    """Raw scores and grades of the workers (M,) in the order of their codes, and the rounds."""

    raw: Floats
    grades: Floats
    n_iterations: int


def cosine_by_sklearn(one: Floats, other: Floats) -> float:
    """Cosine of two vectors, the way most scripts take it."""
    from sklearn.metrics.pairwise import cosine_similarity

    return float(cosine_similarity(one.reshape(1, -1), other.reshape(1, -1))[0][0])


def cosine_by_numpy(one: Floats, other: Floats) -> float:
    """Cosine of two vectors without a library's checks."""
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


class PerPair:
    """AQER as a research script has it: dictionaries, and one pair of vectors at a time.

    The answers are put in a dictionary beforehand; only `run` is timed.
    """

    def __init__(self, crowd: BenchmarkCrowd, similarity: Similarity, stopping: Stopping) -> None:
        self.similarity, self.stopping = similarity, stopping
        self.workers, self.questions = range(crowd.n_workers), range(crowd.n_questions)
        keys = zip(crowd.workers.tolist(), crowd.questions.tolist(), strict=True)
        self.answers = dict(zip(keys, crowd.vectors.astype(np.float64), strict=True))

    def run(self) -> Grading:
        """Iterate until the weights rest."""
        weights = {worker: 1.0 / len(self.workers) for worker in self.workers}
        rounds = 0
        while True:
            rounds += 1
            exemplars = {question: self._exemplar(question, weights) for question in self.questions}
            raw = {worker: self._raw(worker, exemplars) for worker in self.workers}
            low, high = min(raw.values()), max(raw.values())
            grades = {worker: (raw[worker] - low) / (high - low) for worker in self.workers}
            total = sum(grades.values())
            before = weights
            weights = {worker: grades[worker] / total for worker in self.workers}
            squares = [(weights[worker] - before[worker]) ** 2 for worker in self.workers]
            if _rests(float(np.mean(squares)), len(self.workers), rounds, self.stopping):
                return Grading(
                    np.array([raw[worker] for worker in self.workers]),
                    np.array([grades[worker] for worker in self.workers]),
                    rounds,
                )

    def _exemplar(self, question: int, weights: dict[int, float]) -> Floats:
        answered = [worker for worker in self.workers if (worker, question) in self.answers]
        total = sum(weights[worker] for worker in answered)
        if total <= 0:
            weights, total = dict.fromkeys(answered, 1.0), float(len(answered))
        exemplar = np.zeros_like(self.answers[answered[0], question])
        for worker in answered:
            exemplar += weights[worker] * self.answers[worker, question]
        return exemplar / total

    def _raw(self, worker: int, exemplars: dict[int, Floats]) -> float:
        scores = []
        for question in self.questions:
            if (worker, question) in self.answers:
                answer = self.answers[worker, question]
                scores.append(self.similarity(answer, exemplars[question]))
        return float(np.mean(scores))


def numpy_loop(
    vectors: Floats, workers: NDArray[np.int64], questions: NDArray[np.int64], stopping: Stopping
) -> Grading:
    """AQER as plain numpy: a loop over questions, each exemplary answer formed in every round."""
    order = np.argsort(questions, kind="stable")
    edges = np.flatnonzero(np.diff(questions[order])) + 1
    groups = [
        (workers[rows], vectors[rows], np.linalg.norm(vectors[rows], axis=1))
        for rows in np.split(order, edges)
    ]
    m = int(workers.max()) + 1
    answered = np.bincount(workers, minlength=m)
    weights = np.full(m, 1.0 / m)
    rounds = 0
    while True:
        rounds += 1
        total = np.zeros(m)
        for who, x, norms in groups:
            w = weights[who]
            if w.sum() <= 0:
                w = np.ones(len(who))
            exemplar = w @ x / w.sum()
            total[who] += x @ exemplar / (norms * np.linalg.norm(exemplar))
        raw = total / answered
        grades = (raw - raw.min()) / (raw.max() - raw.min())
        before, weights = weights, grades / grades.sum()
        if _rests(float(np.mean((weights - before) ** 2)), m, rounds, stopping):
            return Grading(raw, grades, rounds)


def gram_loop(
    vectors: NDArray[np.floating], workers: NDArray[np.int64], each: int, stopping: Stopping
) -> Grading:
    """AQER in Gram form as plain numpy: one product of matrices a thousand questions at a time.

    `each` is the number of answers to every question, which follow each other. It knows no zero
    vectors, no weights that sum to zero, no other shape of a crowd.
    """
    m, dimension = int(workers.max()) + 1, vectors.shape[1]
    inner = np.empty((len(vectors) // each, each, each))
    length = np.empty((len(vectors) // each, each))
    for begin in range(0, len(inner), 1000):
        x = vectors[begin * each : (begin + 1000) * each].astype(np.float64)
        x = x.reshape(-1, each, dimension)
        found = x @ x.transpose(0, 2, 1)
        norms = np.sqrt(np.einsum("bii->bi", found))
        inner[begin : begin + 1000] = found / norms[:, :, None] / norms[:, None, :]
        length[begin : begin + 1000] = norms
    answered = np.bincount(workers, minlength=m)
    weights = np.full(m, 1.0 / m)
    rounds = 0
    while True:
        rounds += 1
        v = weights[workers].reshape(length.shape) * length
        product = np.einsum("bij,bj->bi", inner, v)
        scores = product / np.sqrt(np.einsum("bi,bi->b", v, product))[:, None]
        raw = np.bincount(workers, scores.ravel(), minlength=m) / answered
        grades = (raw - raw.min()) / (raw.max() - raw.min())
        before, weights = weights, grades / grades.sum()
        if _rests(float(np.mean((weights - before) ** 2)), m, rounds, stopping):
            return Grading(raw, grades, rounds)


def pair_sums(
    vectors: NDArray[np.floating], workers: NDArray[np.int64], questions: NDArray[np.int64]
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Sums of cosines and counts of every pair of workers: what the alarms on groups rest on.

    scikit-learn's `cosine_similarity`, one question at a time; (M, M), above the diagonal.
    """
    from sklearn.metrics.pairwise import cosine_similarity

    m = int(workers.max()) + 1
    order = np.argsort(questions, kind="stable")
    pairs, values = [], []
    for rows in np.split(order, np.flatnonzero(np.diff(questions[order])) + 1):
        i, k = np.triu_indices(len(rows), 1)
        values.append(cosine_similarity(vectors[rows])[i, k])
        both = workers[rows][i], workers[rows][k]
        pairs.append(np.stack([np.minimum(*both), np.maximum(*both)]))
    place, found = np.concatenate(pairs, axis=1), np.concatenate(values).astype(np.float64)
    sums = sparse.coo_array((found, tuple(place)), shape=(m, m)).tocsr()
    return sums, sparse.coo_array((np.ones(len(found)), tuple(place)), shape=(m, m)).tocsr()


def _rests(mean_square: float, n_workers: int, rounds: int, stopping: Stopping) -> bool:
    change = n_workers * mean_square**0.5
    return change < stopping.tolerance or rounds >= stopping.max_iterations


class TextRasa:
    """crowd-kit's TextRASA, on vectors that its encoder only looks up.

    Another method with the same output: reliabilities of workers, and of each question the answer
    nearest to the weighted mean. The table of answers is made beforehand.
    """

    def __init__(self, crowd: BenchmarkCrowd) -> None:
        import pandas as pd

        texts = [str(row) for row in range(len(crowd))]
        self.table = pd.DataFrame({"task": crowd.questions, "worker": crowd.workers, "text": texts})
        self.vectors = dict(zip(texts, crowd.vectors.astype(np.float64), strict=True))
        self.n_workers = crowd.n_workers

    def fit_predict(self, rounds: int | None = None) -> Any:
        """Reliabilities and the nearest answers, by its own defaults or after so many rounds."""
        return self._made(rounds).fit_predict(self.table, true_objects=None)

    def fit(self) -> Any:
        """Reliabilities alone."""
        return self._made().fit(self.table, true_objects=None)

    def reliabilities(self) -> tuple[Floats, int]:
        """Return (M,) reliabilities in the order of the workers' codes, and the rounds taken."""
        made = self._made()
        rounds, update = 0, made._rasa._update_skills

        def counted(*arguments: Any) -> Any:
            nonlocal rounds
            rounds += 1
            return update(*arguments)

        made._rasa._update_skills = counted
        made.fit(self.table, true_objects=None)
        return made.skills_.loc[list(range(self.n_workers))].to_numpy(), rounds

    def _made(self, rounds: int | None = None) -> Any:
        from crowdkit.aggregation import TextRASA

        # A loss is never below zero, so with that tolerance all rounds are done.
        given = {} if rounds is None else {"n_iter": rounds, "tol": 0.0}
        return TextRASA(encoder=self.vectors.__getitem__, **given)
