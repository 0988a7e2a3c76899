"""Cosine matrices of the answers to each question, and the test for two camps in one.

With many answers the matrix is larger than the vectors that it is computed from. It is then never
formed: only its products with vectors are needed, and the answers' vectors give these in time
proportional to the number of answers, not to its square.

Test whether the answers to single questions fall into two camps (opposed opinions).

A misconception is held by other workers from question to question; then the crowd has no camps, but
its questions do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.grams import GramBlock
from evaluation.grading.alarms.methods.pairs import AT_ONCE, compute_block_cosines

# Numbers of matrices that a processor keeps at hand while it multiplies them again and again.
CACHED = 100_000


class SimilarityMatrices(ABC):
    """Interface of cosine matrices of answers, one matrix per question, diagonal zero.

    Each question has one matrix over its answers.

    Of m answers to each of B questions, (m, m) each.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Shape (B, m): number of questions, and number of answers to each question."""

    @abstractmethod
    def multiply_vectors(self, v: Floats) -> Floats:
        """Return the product of each question's cosine matrix with that question's row of `v`.

        Shape (B, m).
        """

    @abstractmethod
    def sum_similarities(self, question: int, is_member: Booleans) -> Floats:
        """Return each marked answer's summed cosine with the question's other marked answers.

        `question` is the index of the question in the batch.
        """

    @abstractmethod
    def iterate_power_method(self, v: Floats, steps: int) -> Floats:
        """Return each question's vector after `steps` of power iteration on its centred matrix.

        Unit vectors, (B, m); the matrices are doubly centred.

        The ones on the diagonal are put back for that. A matrix without anything gives zeros.
        """

    @cached_property
    def cosine_sums(self) -> Floats:
        """Sum of each answer's cosines with the other answers, one row per question.

        Shape (B, m).
        """
        return self.multiply_vectors(np.ones(self.shape))


@dataclass(frozen=True)
class FullSimilarityMatrices(SimilarityMatrices):
    """Cosine matrices stored in full, one square matrix of answers for each question.

    `cosine` is (B, m, m) for m answers to each of B questions.
    """

    cosine: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (B, m): number of questions, and number of answers to each question."""
        return self.cosine.shape[0], self.cosine.shape[1]

    @cached_property
    def cosine_sums(self) -> Floats:
        """Sum of each answer's cosines with the other answers, one row per question.

        Shape (B, m).
        """
        return self.cosine.sum(axis=2)

    def multiply_vectors(self, v: Floats) -> Floats:
        """Return the product of each question's cosine matrix with that question's row of `v`.

        Shape (B, m).
        """
        return np.asarray(np.einsum("bij,bj->bi", self.cosine, v))

    def sum_similarities(self, question: int, is_member: Booleans) -> Floats:
        """Return each marked answer's summed cosine with the question's other marked answers."""
        return np.asarray(self.cosine[question][np.ix_(is_member, is_member)].sum(axis=1))

    def iterate_power_method(self, v: Floats, steps: int) -> Floats:
        """Return each question's vector after `steps` of power iteration, in small batches.

        Shape (B, m).
        """
        out = np.empty_like(v)
        n_at_once = max(1, CACHED // self.shape[1] ** 2)
        for begin in range(0, len(v), n_at_once):
            part = slice(begin, begin + n_at_once)
            cosines_of_part, vectors = self.cosine[part], v[part]
            for _ in range(steps):
                vectors = _centre_rows(vectors)
                # `+ vectors` puts the diagonal's ones back: without them eigenvalues may be
                # negative, and power steps find the one of the greatest size, not the greatest.
                vectors = _normalise_rows(
                    _centre_rows(np.einsum("bij,bj->bi", cosines_of_part, vectors) + vectors)
                )
            out[part] = vectors
        return out


@dataclass(frozen=True)
class FactoredSimilarityMatrices(SimilarityMatrices):
    """Cosine matrices kept as unit vectors of the answers, which needs less memory.

    `rows` is (B, m, d) for m answers to each of B questions; no vector is zero.
    """

    rows: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (B, m): number of questions, and number of answers to each question."""
        return self.rows.shape[0], self.rows.shape[1]

    def multiply_vectors(self, v: Floats) -> Floats:
        """Return the product of each question's cosine matrix with that question's row of `v`.

        Shape (B, m).
        """
        along = v[:, None, :] @ self.rows
        # Rows have length 1: subtracting v takes the ones of the diagonal out again.
        return np.asarray((self.rows @ along.transpose(0, 2, 1))[:, :, 0] - v)

    def sum_similarities(self, question: int, is_member: Booleans) -> Floats:
        """Return each marked answer's summed cosine with the question's other marked answers."""
        some = self.rows[question][is_member]
        # Less the answer's cosine with itself.
        return np.asarray(some @ some.sum(axis=0) - 1.0)

    def iterate_power_method(self, v: Floats, steps: int) -> Floats:
        """Return each question's vector after `steps` of power iteration, from the unit vectors.

        Shape (B, m). With centred rows X a step is X X' v, so n of them are X (X' X)^(n-1) X' v.
        """
        out = np.empty_like(v)
        for index, x in enumerate(self.rows):
            x = x - x.mean(axis=0)
            square = x.T @ x
            along = x.T @ (v[index] - v[index].mean())
            for _ in range(steps - 1):
                # Scaled after each step, so that 64 of them neither over- nor underflow.
                along = square @ along
                norm = np.linalg.norm(along)
                along /= norm if norm > 0 else 1.0
            out[index] = x @ along
        return _normalise_rows(_centre_rows(out))


def build_similarity_matrices(
    block: GramBlock, part: slice, chosen: Integers | None = None
) -> SimilarityMatrices:
    """Return the cosine matrices of some questions, in the form that needs less memory.

    `chosen` are indices of some of the answers to each question; None for all. Vectors are stored
    if the block has them, their inner products are cosines, and they take less memory.
    """
    if block.direct and not block.centred:
        every = slice(None) if chosen is None else chosen
        rows = block.inner[part][:, every]
        # `FactoredSimilarityMatrices` subtracts 1 for each diagonal entry; a zero vector has none.
        if rows.shape[1] > rows.shape[2] and (block.own[part][:, every] > 0).all():
            return FactoredSimilarityMatrices(rows)
    cosines = compute_block_cosines(block, part, chosen)
    np.einsum("bii->bi", cosines)[...] = 0.0
    return FullSimilarityMatrices(cosines)


def _centre_rows(v: Floats) -> Floats:
    """Return the array (B, m) with the mean of each row subtracted."""
    return np.asarray(v - v.mean(axis=1, keepdims=True))


def _normalise_rows(v: Floats) -> Floats:
    """Return the array (B, m) with each row scaled to length 1; zero rows stay zero."""
    norm = np.linalg.norm(v, axis=1, keepdims=True)
    return np.asarray(v / np.where(norm > 0, norm, 1.0))


# A question is listed above this separation, ...
SEPARATED = 0.4
# ... and the crowd is told at this share of the questions, and so many of them, ...
THRESHOLD = 0.15
FEWEST_LISTED = 3
# ... if so many are rare in an honest crowd, where up to one question in twenty is listed: half
# right, half wrong is what a question is sometimes like.
USUAL = 0.05
RARE = 0.02
FEWEST_ANSWERS = 6
SMALLEST = 3
SMALLEST_SHARE = 0.2
# Of a question with more answers, a random sample is looked at.
MOST_ANSWERS = 1000
POWER_STEPS = 64
MOST_MOVES = 20


@dataclass(frozen=True)
class QuestionCamps:
    """Results of the test for two camps of answers, for each question of a run.

    Attributes
    ----------
    separation : (Q,) smaller mean cosine within a camp minus that across, as a share of 1 minus
        that across; at most 1, 0 without a second camp, NaN below 6 answers. By question code.
    listed : question codes with a separation above .4, the most separated first.
    camps : for each listed question the worker codes of its larger and its smaller camp.
    nearest : for each listed question the worker codes whose answers are nearest to the mean
        direction of these camps, with equal weights because it is unknown which camp is right;
        the first in input order among ties.
    statistic : share of the tested questions that are listed; None with `reason`.
    n_tested : questions with 6 answers or more.
    """

    separation: Floats
    listed: Integers
    camps: tuple[tuple[Integers, Integers], ...]
    nearest: tuple[tuple[int, int], ...]
    statistic: float | None
    n_tested: int
    reason: str | None = None
    threshold: float = THRESHOLD

    @property
    def is_raised(self) -> bool:
        """Whether the alarm is raised: more questions have two camps than chance explains."""
        return (
            self.statistic is not None
            and self.statistic >= self.threshold
            and len(self.listed) >= FEWEST_LISTED
            # sf(k - 1) is the probability of k or more.
            and float(stats.binom.sf(len(self.listed) - 1, self.n_tested, USUAL)) < RARE
        )


def find_question_camps(
    vote: MeanVote, seed: int = 0, tested: Booleans | None = None
) -> QuestionCamps:
    """Return the results of testing the answers to each question for two camps.

    Each camp has at least 3 answers and a fifth of the question's answers.

    Parameters
    ----------
    seed : draws the sample of a question with more than 1,000 answers.
    tested : (M,) whether a worker's answers are tested; None for all workers.
    """
    separation = np.full(vote.cells.n_questions, np.nan)
    members: dict[int, tuple[_AnswerCamp, _AnswerCamp]] = {}
    for part in _iterate_batches(vote, np.random.default_rng(seed), tested):
        similarities = build_similarity_matrices(part.block, part.at, part.chosen)
        in_first = _reassign_answers(similarities, _compute_leading_signs(similarities))
        separations = _compute_separation(similarities, in_first)
        separation[part.question] = separations
        for b in np.flatnonzero(separations > SEPARATED).tolist():
            members[int(part.question[b])] = (
                _AnswerCamp.from_answers(part.worker[b], similarities, b, in_first[b]),
                _AnswerCamp.from_answers(part.worker[b], similarities, b, ~in_first[b]),
            )
    return _build_question_camps(separation, members)


@dataclass(frozen=True)
class _QuestionBatch:
    """Questions of one block with equally many tested answers, to be tested at once.

    B questions with m tested answers each.

    Attributes
    ----------
    at : slice of the questions within the block. chosen : (m,) indices of the tested answers; None
        for all.
    question : (B,) codes. worker : (B, m) codes of the answers' authors.
    """

    block: GramBlock
    at: slice
    chosen: Integers | None
    question: Integers
    worker: Integers


def _iterate_batches(
    vote: MeanVote, rng: np.random.Generator, tested: Booleans | None
) -> Iterator[_QuestionBatch]:
    """Yield batches of questions with 6 or more answers by the tested workers.

    `tested` is (M,), None for all workers.
    """
    start = 0
    for block in vote.blocks:
        size = block.size
        block_cells = slice(start, start + len(block) * size)
        start = block_cells.stop
        if size < FEWEST_ANSWERS:
            continue
        question = vote.cells.question[block_cells].reshape(-1, size)[:, 0]
        worker = vote.cells.worker[block_cells].reshape(-1, size)
        if tested is None or tested[worker].all():
            chosen = None
            if size > MOST_ANSWERS:
                # Sorted, because the first in input order wins a tie.
                chosen = np.sort(rng.choice(size, MOST_ANSWERS, replace=False))
            step = max(1, AT_ONCE // min(size, MOST_ANSWERS) ** 2)
            for begin in range(0, len(block), step):
                span = slice(begin, min(begin + step, len(block)))
                workers = worker[span] if chosen is None else worker[span][:, chosen]
                yield _QuestionBatch(block, span, chosen, question[span], workers)
            continue
        # The questions keep different numbers of tested answers: no common array holds them.
        for b in range(len(block)):
            chosen_answers = np.flatnonzero(tested[worker[b]])
            if len(chosen_answers) > MOST_ANSWERS:
                chosen_answers = np.sort(rng.choice(chosen_answers, MOST_ANSWERS, replace=False))
            if len(chosen_answers) >= FEWEST_ANSWERS:
                span = slice(b, b + 1)
                yield _QuestionBatch(
                    block, span, chosen_answers, question[span], worker[span][:, chosen_answers]
                )


@dataclass(frozen=True)
class _AnswerCamp:
    """A camp of similar answers to a question: its workers and the author nearest to its mean."""

    workers: Integers
    nearest: int

    @classmethod
    def from_answers(
        cls, workers: Integers, similarities: SimilarityMatrices, question: int, is_member: Booleans
    ) -> _AnswerCamp:
        """Return a camp's workers, and the worker whose answer is nearest to the camp's others.

        `workers` are the authors of all answers to the question at index `question`; `is_member`
        marks the answers of the camp.
        """
        members = workers[is_member]
        # To the mean of unit vectors: the sum of the cosines to them, each one's own of 1 left
        # out. Equal texts differ by rounding only.
        sums = similarities.sum_similarities(question, is_member).round(9)
        return cls(members, int(members[np.argmax(sums)]))


def _build_question_camps(
    separation: Floats, members: dict[int, tuple[_AnswerCamp, _AnswerCamp]]
) -> QuestionCamps:
    """Return the results of the test, from each question's separation and its camps."""
    tested = int(np.count_nonzero(~np.isnan(separation)))
    listed = np.array(sorted(members, key=lambda q: (-separation[q], q)), dtype=np.int64)
    # The larger one first; halves of equal size are told in the order of their first worker.
    ordered = [
        sorted(members[question], key=lambda camp: (-len(camp.workers), camp.workers[0]))
        for question in listed.tolist()
    ]
    return QuestionCamps(
        separation,
        listed,
        tuple((larger.workers, smaller.workers) for larger, smaller in ordered),
        tuple((larger.nearest, smaller.nearest) for larger, smaller in ordered),
        len(listed) / tested if tested else None,
        tested,
        None if tested else "no_question_with_6_answers",
    )


def _compute_leading_signs(similarities: SimilarityMatrices) -> Booleans:
    """Return a first split of each question's answers, by the leading eigenvector's signs.

    Shape (B, m). The eigenvector is of the doubly centred Gram matrix; one row per question.

    By power steps, which converge because the matrices have no negative eigenvalues; the ones of
    the unit vectors' lengths are put back on the diagonal for that.
    """
    start = np.random.default_rng(0).standard_normal(similarities.shape)
    return similarities.iterate_power_method(start, POWER_STEPS) >= 0


def _reassign_answers(similarities: SimilarityMatrices, in_first: Booleans) -> Booleans:
    """Return the split after answers have moved to the half they are more similar to.

    Shape (B, m).
    """
    size = similarities.shape[1]
    sums = similarities.cosine_sums
    for _ in range(MOST_MOVES):
        to_first = similarities.multiply_vectors(in_first.astype(np.float64))
        # An answer is no evidence for its own half: similarities has zeros on the diagonal, and the
        # counts leave it out as well.
        count = in_first.sum(axis=1, keepdims=True) - in_first
        others = size - 1 - count
        to_own = np.where(count > 0, to_first / np.maximum(count, 1), -np.inf)
        to_other = np.where(others > 0, (sums - to_first) / np.maximum(others, 1), -np.inf)
        # Ties stay where they are, else equal answers would change sides for ever.
        moved = np.where(to_own == to_other, in_first, to_own > to_other)
        if np.array_equal(moved, in_first):
            break
        in_first = moved
    return in_first


def _compute_separation(similarities: SimilarityMatrices, in_first: Booleans) -> Floats:
    """Return how far apart the two halves of each question's answers are, 0 to 1.

    0 where a half is too small.

    Shape (B,). The separation is (within - across) / (1 - across).
    """
    size = similarities.shape[1]
    v = in_first.astype(np.float64)
    to_first = similarities.multiply_vectors(v)
    total, within = similarities.cosine_sums.sum(axis=1), np.einsum("bi,bi->b", v, to_first)
    across = to_first.sum(axis=1) - within
    second_total = total - within - 2 * across
    n_first = in_first.sum(axis=1)
    n_second = size - n_first
    is_large = np.minimum(n_first, n_second) >= max(SMALLEST, int(np.ceil(SMALLEST_SHARE * size)))
    # Any size that divides: the value of a half that is too small is dropped at the end.
    n_first, n_second = np.where(is_large, n_first, 2), np.where(is_large, n_second, 2)
    inside = np.minimum(
        within / (n_first * (n_first - 1)), second_total / (n_second * (n_second - 1))
    )
    between = across / (n_first * n_second)
    gap = 1.0 - between
    # Answers that are all the same differ by rounding only.
    value = np.where(gap > 1e-9, (inside - between) / np.where(gap > 1e-9, gap, 1.0), 0.0)
    return np.where(is_large, np.maximum(value, 0.0), 0.0)


@dataclass(frozen=True)
class AnswerCamps:
    """How far the answers to a question fall into two camps, with camp sizes and examples.

    Attributes
    ----------
    separation : 0 to 1.
    sizes : answers in the larger and in the smaller camp; None up to a separation of .4. With more
        than 1,000 answers, of a random sample of 1,000.
    nearest : `rows` of the graded answers nearest to each camp's mean; None with `sizes`.
    """

    separation: float
    sizes: tuple[int, int] | None = None
    nearest: tuple[int, int] | None = None


def build_camps_summary(camps: dict[Any, AnswerCamps], questions: Iterable[Any]) -> dict[str, Any]:
    """Return the numbers of questions tested for camps and with camps, for the run's summary.

    `too_few` counts the questions of `questions` with fewer answers than are needed.
    """
    return {
        "threshold": SEPARATED,
        "fewest_answers": FEWEST_ANSWERS,
        "tested": len(camps),
        "listed": sum(camp.sizes is not None for camp in camps.values()),
        "too_few": sum(question not in camps for question in questions),
    }


def clip_separation(value: float) -> float:
    """Return the separation of two camps limited to 0..1, against rounding errors."""
    return min(max(value, 0.0), 1.0)
