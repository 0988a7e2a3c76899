"""Two camps among the answers to single questions, whoever gave them.

A misconception is held by other workers from question to question; then the crowd has no camps, but
its questions do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.grading.alarms.methods.likeness import Likeness, likeness_of
from evaluation.grading.alarms.methods.pairs import AT_ONCE
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.gram_block import GramBlock

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
    """Which questions have two kinds of answers.

    Attributes
    ----------
    separation : (Q,) lesser mean cosine within a camp less that across, as a share of what is left
        to 1; at most 1, 0 without a second camp, NaN below 6 answers. Questions in code order.
    listed : question codes with a separation above .4, the most separated first.
    camps : for each listed question the worker codes of its larger and its smaller camp.
    nearest : for each listed question the worker codes whose answers are nearest to the mean
        direction of these camps, in which all answers of a camp count the same: which of the
        camps deserves weight is not known. The first in input order, if several are.
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
    def rings(self) -> bool:
        """Whether so many questions have camps that the crowd is to be told."""
        return (
            self.statistic is not None
            and self.statistic >= self.threshold
            and len(self.listed) >= FEWEST_LISTED
            and float(stats.binom.sf(len(self.listed) - 1, self.n_tested, USUAL)) < RARE
        )


def question_camps(vote: MeanVote, seed: int = 0, tested: Booleans | None = None) -> QuestionCamps:
    """Look for two camps of at least 3 answers and a fifth of them, question by question.

    Parameters
    ----------
    seed : draws the sample of a question with more than 1,000 answers.
    tested : (M,) whose answers are looked at; None for everybody's.
    """
    separation = np.full(vote.cells.n_questions, np.nan)
    members: dict[int, tuple[_Camp, _Camp]] = {}
    for part in _parts(vote, np.random.default_rng(seed), tested):
        found = likeness_of(part.block, part.at, part.chosen)
        first = _settle(found, _leading_signs(found))
        value = _separation(found, first)
        separation[part.question] = value
        for b in np.flatnonzero(value > SEPARATED).tolist():
            members[int(part.question[b])] = (
                _Camp.of(part.worker[b], found, b, first[b]),
                _Camp.of(part.worker[b], found, b, ~first[b]),
            )
    return _found(separation, members)


@dataclass(frozen=True)
class _Part:
    """B questions of a block with m answers each.

    Attributes
    ----------
    at : the questions within the block. chosen : (m,) which of their answers; None for all.
    question : (B,) codes. worker : (B, m) codes of those who gave the answers.
    """

    block: GramBlock
    at: slice
    chosen: Integers | None
    question: Integers
    worker: Integers


def _parts(vote: MeanVote, rng: np.random.Generator, tested: Booleans | None) -> Iterator[_Part]:
    """Yield the questions with 6 answers or more of those who are `tested` (M,), or of all."""
    start = 0
    for block in vote.blocks:
        size = block.size
        every = slice(start, start + len(block) * size)
        start = every.stop
        if size < FEWEST_ANSWERS:
            continue
        question = vote.cells.question[every].reshape(-1, size)[:, 0]
        worker = vote.cells.worker[every].reshape(-1, size)
        if tested is None or tested[worker].all():
            chosen = None
            if size > MOST_ANSWERS:
                chosen = np.sort(rng.choice(size, MOST_ANSWERS, replace=False))
            step = max(1, AT_ONCE // min(size, MOST_ANSWERS) ** 2)
            for begin in range(0, len(block), step):
                at = slice(begin, min(begin + step, len(block)))
                who = worker[at] if chosen is None else worker[at][:, chosen]
                yield _Part(block, at, chosen, question[at], who)
            continue
        for b in range(len(block)):
            mine = np.flatnonzero(tested[worker[b]])
            if len(mine) > MOST_ANSWERS:
                mine = np.sort(rng.choice(mine, MOST_ANSWERS, replace=False))
            if len(mine) >= FEWEST_ANSWERS:
                at = slice(b, b + 1)
                yield _Part(block, at, mine, question[at], worker[at][:, mine])


@dataclass(frozen=True)
class _Camp:
    """Worker codes of half of the answers to a question, and who is nearest to its mean."""

    workers: Integers
    nearest: int

    @classmethod
    def of(cls, worker: Integers, found: Likeness, at: int, inside: Booleans) -> _Camp:
        """Take a half (m,) out of the (m,) workers who answered a question, the `at`-th."""
        workers = worker[inside]
        # To the mean of unit vectors: the sum of the cosines to them, each one's own of 1 left
        # out. Equal texts differ by rounding only.
        sums = found.sums_within(at, inside).round(9)
        return cls(workers, int(workers[np.argmax(sums)]))


def _found(separation: Floats, members: dict[int, tuple[_Camp, _Camp]]) -> QuestionCamps:
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


def _leading_signs(found: Likeness) -> Booleans:
    """Return (B, m) signs of the leading eigenvector of the doubly centred Gram matrices.

    By power steps, which converge because the matrices have no negative eigenvalues; the ones of
    the unit vectors' lengths are put back on the diagonal for that.
    """
    start = np.random.default_rng(0).standard_normal(found.shape)
    return found.after_steps(start, POWER_STEPS) >= 0


def _settle(found: Likeness, first: Booleans) -> Booleans:
    """Let every answer join the half it is nearer to, itself left out, until nothing changes."""
    size = found.shape[1]
    sums = found.sums
    for _ in range(MOST_MOVES):
        to_first = found.times(first.astype(np.float64))
        count = first.sum(axis=1, keepdims=True) - first
        others = size - 1 - count
        near = np.where(count > 0, to_first / np.maximum(count, 1), -np.inf)
        far = np.where(others > 0, (sums - to_first) / np.maximum(others, 1), -np.inf)
        new = np.where(near == far, first, near > far)
        if np.array_equal(new, first):
            break
        first = new
    return first


def _separation(found: Likeness, first: Booleans) -> Floats:
    """Return (B,) separations of two halves; 0 where one is too small."""
    size = found.shape[1]
    v = first.astype(np.float64)
    to_first = found.times(v)
    total, within = found.sums.sum(axis=1), np.einsum("bi,bi->b", v, to_first)
    across = to_first.sum(axis=1) - within
    rest = total - within - 2 * across
    a = first.sum(axis=1)
    b = size - a
    large = np.minimum(a, b) >= max(SMALLEST, int(np.ceil(SMALLEST_SHARE * size)))
    a, b = np.where(large, a, 2), np.where(large, b, 2)
    inside = np.minimum(within / (a * (a - 1)), rest / (b * (b - 1)))
    between = across / (a * b)
    gap = 1.0 - between
    # Answers that are all the same differ by rounding only.
    value = np.where(gap > 1e-9, (inside - between) / np.where(gap > 1e-9, gap, 1.0), 0.0)
    return np.where(large, np.maximum(value, 0.0), 0.0)


@dataclass(frozen=True)
class CampedAnswers:
    """A question with 6 answers or more.

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


def camps_summary(camps: dict[Any, CampedAnswers], asked: Iterable[Any]) -> dict[str, Any]:
    """Return what a run's summary says: thresholds, and how many questions were tested and listed.

    `too_few` counts the questions of `asked` with fewer answers than are needed.
    """
    return {
        "threshold": SEPARATED,
        "fewest_answers": FEWEST_ANSWERS,
        "tested": len(camps),
        "listed": sum(found.sizes is not None for found in camps.values()),
        "too_few": sum(question not in camps for question in asked),
    }


def known_separation(value: float) -> float:
    """Return a separation within its range, which rounding may leave."""
    return min(max(value, 0.0), 1.0)
