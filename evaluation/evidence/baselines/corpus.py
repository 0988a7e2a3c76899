"""Corpus of answers with similarity tables; worker scores as means of answers' scores.

A study draws many crowds from one corpus. Similarities of two texts are therefore computed once for
all pairs of answers to a question, and each crowd selects its pairs from the table.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.cells import (
    Booleans,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.grams import compact_vectors as compacted

T = TypeVar("T")


class UnavailableError(Exception):
    """A baseline cannot be computed on this data; `reason` is shown in its empty row."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Corpus:
    """Corpus of answers to questions, with vectors and tables that are computed once.

    Parameters
    ----------
    texts : (R,) answers. questions : (R,) labels of their questions.
    vectors : function from the SPEC of an embedder to (R, d) vectors of the texts.
    embedder : SPEC for methods that do not name their own.
    references : function from a SPEC to (Q, d) vectors of the reference answers, by question in
        order of first appearance; None without reference answers.
    judged : (R,) a judge's score of each answer, higher is better, NaN without a score; None
        without a judge.
    entails : function from (K, 2) rows (premise, hypothesis) to (K,) entailment probabilities; None
        without an entailment model.
    contradicts : function from (K, 2) rows of answers to (K,) probabilities that they contradict
        each other; None without such a model.
    reference_entails : function from (K,) rows to (K,) probabilities that the question's reference
        answer entails the answer; None without such a model or reference answers.
    """

    def __init__(
        self,
        texts: Sequence[str],
        questions: ArrayLike,
        vectors: Callable[[str], Vectors],
        embedder: str = "minilm",
        *,
        references: Callable[[str], Vectors] | None = None,
        judged: ArrayLike | None = None,
        entails: Callable[[Integers], Floats] | None = None,
        contradicts: Callable[[Integers], Floats] | None = None,
        reference_entails: Callable[[Integers], Floats] | None = None,
    ) -> None:
        self.texts = list(texts)
        self.question, self.labels = encode_labels(questions)
        if len(self.texts) != len(self.question):
            raise ValueError(f"{len(self.texts)} texts for {len(self.question)} questions")
        self.vectors, self.embedder = vectors, embedder
        self.references, self.entails, self.contradicts = references, entails, contradicts
        self.reference_entails = reference_entails
        self.judged = None if judged is None else np.asarray(judged, dtype=np.float64)
        self._cached: dict[Hashable, object] = {}

    @property
    def n_questions(self) -> int:
        """Number of distinct questions in the corpus."""
        return len(self.labels)

    def copy_without_entailment(self, reason: str) -> Corpus:
        """Return a copy of the corpus whose entailment models raise `UnavailableError`."""

        def refuse(_: Integers) -> Floats:
            """Raise `UnavailableError` in place of an entailment model."""
            raise UnavailableError(reason)

        # Shares the cache, because vectors and tables stay the same.
        refusing = copy.copy(self)
        refusing.entails = refusing.contradicts = refusing.reference_entails = refuse
        return refusing

    @cached_property
    def members(self) -> list[Integers]:
        """Row numbers of the answers to each question, in corpus order; one array per question."""
        # Stable, so that the answers to a question keep the order of the corpus.
        order = np.argsort(self.question, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.question))[:-1])

    @cached_property
    def place(self) -> Integers:
        """Position (from 0) of each answer among the answers to its question. Shape (R,)."""
        place = np.empty(len(self.texts), dtype=np.int64)
        for rows in self.members:
            place[rows] = np.arange(len(rows))
        return place

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value stored under a key, computed by `make` at the first call."""
        if key not in self._cached:
            self._cached[key] = make()
        return self._cached[key]  # type: ignore[return-value]

    def forget_value(self, key: Hashable) -> None:
        """Remove the value that `compute_once` stored under a key."""
        self._cached.pop(key, None)

    def compact_vectors(self, spec: str) -> Floats:
        """Return shorter vectors of the answers, with equal inner products within each question.

        k is the greatest number of answers to a question. The change of coordinates is orthogonal
        and differs by question: cosines and distances within a question stay the same up to
        rounding, those across questions have no meaning.
        """
        return self.compute_once(
            ("compact", spec), lambda: compacted(self.vectors(spec), self.members)
        )

    def join_embeddings(self, specs: Sequence[str]) -> Floats:
        """Return unit-length vectors of several embedders side by side, one row per answer.

        An inner product is then the sum of the embedders' cosines: a hybrid of, say, letters and
        meaning. One SPEC alone: `compact_vectors`, with unchanged lengths.
        """
        if len(specs) == 1:
            return self.compact_vectors(specs[0])

        def joined() -> Floats:
            """Return the unit-length vectors of all embedders side by side."""
            parts = [self.compact_vectors(spec) for spec in specs]
            lengths = [np.linalg.norm(x, axis=1, keepdims=True) for x in parts]
            return np.hstack(
                [
                    divide_where_positive(x, length, 0.0)
                    for x, length in zip(parts, lengths, strict=True)
                ]
            )

        return self.compute_once(("side by side", tuple(specs)), joined)

    def tabulate_pairs(self, name: Hashable, table: Callable[[Integers], Floats]) -> Floats:
        """Return the table (question, answer, answer) of similarities of a question's answers.

        It is padded with zeros, and its diagonals are 0. `table` is a function from n rows to the
        (n, n) similarities of row i to row j.
        """
        return self.compute_once(("pairs", name), lambda: self._fill_pair_table(table))

    def _fill_pair_table(self, table: Callable[[Integers], Floats]) -> Floats:
        """Return the table (question, answer, answer) of `tabulate_pairs`, computed by question."""
        size = max(len(rows) for rows in self.members)
        similarities = np.zeros((self.n_questions, size, size))
        for question, rows in enumerate(self.members):
            block = similarities[question, : len(rows), : len(rows)]
            block[...] = table(rows)
            np.fill_diagonal(block, 0.0)
        return similarities


@dataclass(frozen=True)
class Crowd:
    """Answers of a crowd of workers, drawn from a corpus.

    Attributes
    ----------
    corpus : corpus of the answers.
    rows : (N,) row numbers of the answers in the corpus, all different.
    workers : (N,) worker codes 0..M-1; at most one answer of a worker to a question.
    voting : (M,) whether a worker votes on the exemplary answers; None if all do. Others, such as a
        language model or a held-out worker, are only scored.
    seed : seed of random starting values.
    """

    corpus: Corpus
    rows: Integers
    workers: Integers
    voting: Booleans | None = None
    seed: int = 0
    n_workers: int = field(init=False)

    def __post_init__(self) -> None:
        if len(np.unique(self.rows)) != len(self.rows) or len(self.rows) != len(self.workers):
            raise ValueError("a crowd needs different rows and a worker for each")
        voting = self.voting
        count = int(self.workers.max()) + 1 if voting is None else len(voting)
        # The class is frozen, and the field is computed.
        object.__setattr__(self, "n_workers", count)

    @cached_property
    def questions(self) -> Integers:
        """Question code (of the corpus) of each answer. Shape (N,)."""
        return self.corpus.question[self.rows]

    @cached_property
    def votes(self) -> Booleans:
        """Whether the worker of each answer votes. Shape (N,)."""
        if self.voting is None:
            return np.ones(len(self.rows), dtype=bool)
        return np.asarray(self.voting[self.workers], dtype=bool)

    @cached_property
    def place(self) -> Integers:
        """Position (from 0) of each answer among all corpus answers to its question. Shape (N,)."""
        return self.corpus.place[self.rows]

    @property
    def order(self) -> Integers:
        """Indices that sort the crowd's answers by corpus row, not by worker. Shape (N,)."""
        return np.argsort(self.rows, kind="stable")

    def compute_worker_means(self, scores: Floats) -> Floats:
        """Return each worker's mean answer score, ignoring NaN; NaN without scores."""
        known = ~np.isnan(scores)
        m = self.n_workers
        total = np.bincount(self.workers[known], weights=scores[known], minlength=m)
        count = np.bincount(self.workers[known], minlength=m)
        return divide_where_positive(total, count)

    def compute_mean_similarity_to_others(self, pairs: Floats) -> Floats:
        """Return each answer's mean similarity to the other voters' answers of its question.

        `pairs` is a table of `Corpus.tabulate_pairs`; NaN if no other voter answered.
        """
        votes = self.vote_table
        total = np.einsum("qij,qj->qi", pairs, votes)[self.questions, self.place]
        # A voter's own answer is 0 on the table's diagonal, so only the count must leave it out.
        count = votes.sum(axis=1)[self.questions] - self.votes
        return divide_where_positive(total, count)

    @cached_property
    def vote_table(self) -> Floats:
        """Table (question, answer) of the corpus: 1.0 for answers of this crowd's voters, or 0."""
        size = max(len(rows) for rows in self.corpus.members)
        votes = np.zeros((self.corpus.n_questions, size))
        votes[self.questions[self.votes], self.place[self.votes]] = 1.0
        return votes

    def select_answers(self, keep: NDArray[np.bool_]) -> Crowd:
        """Return the crowd with only the answers that are flagged in `keep`.

        Worker codes are unchanged.
        """
        # Written out, because the last workers may lose all answers and must keep their codes.
        voting = np.ones(self.n_workers, dtype=bool) if self.voting is None else self.voting
        return Crowd(self.corpus, self.rows[keep], self.workers[keep], voting, self.seed)


@dataclass(frozen=True)
class MeanAnswerScore:
    """Decorator that turns a function scoring answers into a method scoring workers.

    Attributes
    ----------
    score_answers : function from a crowd to (N,) scores of its answers, higher is better; else NaN.
    """

    score_answers: Callable[[Crowd], Floats]

    def __call__(self, crowd: Crowd) -> Floats:
        """Return each worker's mean answer score; NaN for a worker without scores."""
        return crowd.compute_worker_means(self.score_answers(crowd))
