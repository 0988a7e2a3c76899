"""Question contrast: agreement on an answer's own question less its agreement on other questions.

The correlated agreement of multi-task peer prediction (Dasgupta and Ghosh 2013, "Crowdsourced
judgement elicitation with endogenous proficiency"; Shnayder et al. 2016, "Informed truthfulness in
multi-task peer prediction"), on cosines: an answer that does not depend on its question earns 0.

With e_k the direction of the exemplary answer of question k, the mean cosine of a unit vector u to
the other n - 1 of a group is ``u' (sum_k e_k - e_j) / (n - 1)``: memory grows with questions x
dimensions, never with pairs of questions. Leaving a worker out changes only the e_k of questions
that the worker answered, so the worker's own sum is the common sum with those replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.exemplary_answers import SMALL, SMALL_SHARE, ZERO
from evaluation.consensus.methods.resampling import DrawnVotes
from evaluation.core.stats.cells import Booleans, Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import CHUNK, Vectors, convert_to_dense
from evaluation.core.stats.inference.intervals import compute_t_interval

# A passage or category with fewer questions is no group of its own, and fewer questions in all
# give no contrast.
FEWEST_QUESTIONS = 5
FEWER_QUESTIONS = "contrast_needs_5_questions"
ONLY_ANSWER = "only_answer_to_its_question"


@dataclass(frozen=True)
class QuestionScope:
    """A division of questions into groups; question contrast compares within a group.

    Attributes
    ----------
    group : (Q,) code of the group whose exemplary answers include the question's; -1 for none.
    targets : (Q,) flags of the questions whose contrast is computed here; each is in a group.
    """

    group: Integers
    targets: Booleans

    @property
    def sizes(self) -> Integers:
        """Number of questions in each group."""
        return np.bincount(self.group[self.group >= 0])


def list_scopes(groups: Integers | None, answered: Booleans) -> list[QuestionScope]:
    """Return the divisions into groups: groups of 5 or more questions, and one group of all.

    The group of all questions serves those that are in no group of 5 or more.

    Parameters
    ----------
    groups : (Q,) code of each question's passage or category, -1 for none; None for no groups.
    answered : (Q,) which questions have an exemplary answer; others are in no scope.
    """
    everything = np.where(answered, 0, -1)
    if groups is None:
        return [QuestionScope(everything, answered)]
    groups = np.where(answered, groups, -1)
    codes, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    large = (codes >= 0) & (sizes >= FEWEST_QUESTIONS)
    number = np.where(large, np.cumsum(large) - 1, -1)[place]
    scopes = [
        QuestionScope(number, number >= 0),
        QuestionScope(everything, answered & (number < 0)),
    ]
    return [scope for scope in scopes if scope.targets.any()]


@dataclass(frozen=True)
class Contrasts:
    """Question contrasts of answers, and their means by owner (a worker or a model).

    The contrast is the agreement on the own question less that on other questions.

    Attributes
    ----------
    answers : (R,) contrast of each answer, -2 to 2; NaN where undefined.
    reasons : (R,) why it is NaN, or None.
    means : (K,) mean over the owner's answers; NaN without one.
    errors : (K,) standard error of the mean over questions, with crowd and weights fixed.
    owner_reasons : (K,) why a mean is NaN, or None.
    low, high : (K,) its 95% interval by Student's t; NaN below 2 answers, with the reason in
        `interval_reasons`.
    n : (K,) answers behind each mean.
    pseudovalues : (R,) values whose mean is the owner's contrast and whose spread gives the part of
        its standard error that comes from the questions which the owner answered; bootstrap draws
        average them. NaN where the contrast is NaN.
    """

    answers: Floats
    reasons: list[str | None]
    means: Floats
    errors: Floats
    low: Floats
    high: Floats
    owner_reasons: list[str | None]
    interval_reasons: list[str | None]
    n: Integers
    pseudovalues: Floats

    @classmethod
    def build_undefined(cls, n_answers: int, n_owners: int, reason: str) -> Contrasts:
        """Return contrasts that are all NaN, with one reason code."""
        return cls(
            answers=np.full(n_answers, np.nan),
            reasons=[reason] * n_answers,
            means=np.full(n_owners, np.nan),
            errors=np.full(n_owners, np.nan),
            low=np.full(n_owners, np.nan),
            high=np.full(n_owners, np.nan),
            owner_reasons=[reason] * n_owners,
            interval_reasons=[reason] * n_owners,
            n=np.zeros(n_owners, dtype=np.int64),
            pseudovalues=np.full(n_answers, np.nan),
        )

    def copy_contrasts(
        self, rows: Integers, owners: Integers, part: Contrasts, chosen: Integers
    ) -> None:
        """Overwrite the contrasts of some answers and owners by those of another object.

        The answers of `part` go to `rows`; its owners `chosen` go to `owners`.
        """
        for name in ("answers", "pseudovalues"):
            getattr(self, name)[rows] = getattr(part, name)
        for name in ("means", "errors", "low", "high", "n"):
            getattr(self, name)[owners] = getattr(part, name)[chosen]
        for row, reason in zip(rows.tolist(), part.reasons, strict=True):
            self.reasons[row] = reason
        for owner, code in zip(owners.tolist(), chosen.tolist(), strict=True):
            self.owner_reasons[owner] = part.owner_reasons[code]
            self.interval_reasons[owner] = part.interval_reasons[code]

    def average_in_draws(self, drawn: DrawnVotes, owner: Integers, question: Integers) -> Floats:
        """Return each owner's mean contrast in each bootstrap draw of the questions (K, n_draws).

        `owner` and `question` (R,) are the codes of each answer; NaN where a draw holds no answer.
        """
        known = np.flatnonzero(~np.isnan(self.pseudovalues))
        shape = (len(self.means), len(known))
        add = sparse.csr_array((np.ones(len(known)), (owner[known], np.arange(len(known)))), shape)
        out = np.empty((len(self.means), drawn.draws.n_draws))
        for columns, times, _ in drawn:
            weight = times[question[known]]
            total = add @ (weight * self.pseudovalues[known, None])
            out[:, columns] = divide_where_positive(total, add @ weight)
        return out


@dataclass(frozen=True)
class CrowdExemplars:
    """Exemplary answers of a crowd, prepared to be compared with answers to other questions.

    Attributes
    ----------
    exemplars : (Q, d) weighted means of the crowd's answers, dense or sparse.
    vectors : (N, d) the crowd's answers, of finite numbers whose squares are safe.
    question : (N,) question code of each answer.
    shares : (N,) weight of each answer in its exemplary answer; they sum to 1 by question.
    groups : (Q,) code of each question's passage or category, -1 for none; None for no groups.
    """

    exemplars: Vectors
    vectors: Vectors
    question: Integers
    shares: Floats
    groups: Integers | None = None

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return int(self.exemplars.shape[0])

    @cached_property
    def scopes(self) -> list[QuestionScope]:
        """Divisions of the questions into groups that are compared with each other."""
        return list_scopes(self.groups, self.n_answers > 0)

    @cached_property
    def n_answers(self) -> Integers:
        """Number of the crowd's answers to each question."""
        return np.bincount(self.question, minlength=self.n_questions)

    @cached_property
    def lengths(self) -> Floats:
        """Weighted mean vector length of the answers to each question."""
        own = np.sqrt(_compute_squared_norms(self.vectors))
        return np.bincount(self.question, self.shares * own, self.n_questions).astype(np.float64)

    @cached_property
    def squared(self) -> Floats:
        """Squared norm of each exemplary answer; 0 if its answers cancel out."""
        square = _compute_squared_norms(self.exemplars)
        return np.where(square > ZERO * self.lengths**2, square, 0.0)

    @cached_property
    def answers_of_question(self) -> list[Integers]:
        """Row numbers of the crowd's answers to each question."""
        ends = np.cumsum(self.n_answers)[:-1]
        return np.split(np.argsort(self.question, kind="stable"), ends)

    def sum_directions(self, scope: QuestionScope) -> Vectors:
        """Return the sum of unit exemplary answers of each group of questions, one row each."""
        member = np.flatnonzero(scope.group >= 0)
        # Unit length, so that all questions count alike, however much their answers agree.
        inverse = _invert_lengths(np.sqrt(self.squared[member]))
        shape = (len(scope.sizes), self.n_questions)
        sums = sparse.csr_array((inverse, (scope.group[member], member)), shape=shape)
        return sums @ self.exemplars

    def average_others(self, rows: Integers) -> Vectors:
        """Return, for each answer in `rows`, the unit mean of the other answers to its question.

        Others whose weights sum to 0 count equally.
        """
        pairs = [self.answers_of_question[code] for code in self.question[rows].tolist()]
        indices = np.repeat(np.arange(len(rows)), [len(pair) for pair in pairs])
        other = np.concatenate([np.empty(0, dtype=np.int64), *pairs])
        share = np.where(other == rows[indices], 0.0, self.shares[other])
        is_empty = np.bincount(indices, share, len(rows)) <= 0
        share = np.where(is_empty[indices] & (other != rows[indices]), 1.0, share)
        used, place = np.unique(other, return_inverse=True)
        sums = sparse.csr_array((share, (indices, place)), shape=(len(rows), len(used)))
        x = _select_float_rows(self.vectors, used)
        mean = sums @ x
        lengths = sums @ np.sqrt(_multiply_rows(x, x))
        square = _multiply_rows(mean, mean)
        return _scale_rows(
            mean, _invert_lengths(np.sqrt(np.where(square > ZERO * lengths**2, square, 0.0)))
        )

    def compare_workers(self, worker: Integers, n_workers: int) -> Contrasts:
        """Return the leave-one-out question contrasts of workers' answers, with each worker's mean.

        `worker` (N,) holds the worker code of each answer. A worker is left out of all exemplary
        answers that the worker's answers are compared with, of the own question and of others.
        """
        alone = self.n_answers[self.question] == 1
        answers = _AnswersToContrast(self.vectors, worker, self.question, self.shares, alone)
        return _compute_contrasts(self, answers, n_workers)

    def compare_others(
        self, vectors: Vectors, owner: Integers, question: Integers, n_owners: int
    ) -> Contrasts:
        """Return the question contrasts of answers without a vote, such as models', with means.

        Parameters
        ----------
        vectors : (R, d). owner : (R,) codes 0..n_owners-1. question : (R,) question codes, of
            questions with an answer.
        """
        shares, alone = np.zeros(len(owner)), np.zeros(len(owner), dtype=bool)
        return _compute_contrasts(
            self, _AnswersToContrast(vectors, owner, question, shares, alone), n_owners
        )


@dataclass(frozen=True)
class _AnswersToContrast:
    """Answers whose question contrast is computed: vectors, owners, questions and vote shares.

    `shares` are the answers' shares in their exemplary answers, 0 without a vote.

    `alone` flags answers that are the only one to their question; they have no contrast.
    """

    vectors: Vectors
    owner: Integers
    question: Integers
    shares: Floats
    alone: Booleans

    def split_by_owner(self) -> Iterator[Integers]:
        """Yield row numbers in chunks of whole owners that fit the processor's cache.

        A single owner with more answers is one chunk.
        """
        # Owners stay whole, because the influence of a question sums over all answers of its owner.
        order = np.argsort(self.owner, kind="stable")
        most = max(1, CHUNK // self.vectors.shape[1])
        ends = np.flatnonzero(np.diff(self.owner[order], append=-1)) + 1
        begin = 0
        while begin < len(order):
            last = int(np.searchsorted(ends, begin + most, side="right")) - 1
            if last < 0 or ends[last] <= begin:
                last += 1
            yield order[begin : ends[last]]
            begin = int(ends[last])


def _compute_contrasts(
    crowd: CrowdExemplars, answers: _AnswersToContrast, n_owners: int
) -> Contrasts:
    """Return the question contrasts of all answers, and the means of their owners."""
    r = len(answers.owner)
    contrast, influence = np.full(r, np.nan), np.zeros(r)
    variance = np.zeros(n_owners)
    sums = [(scope, crowd.sum_directions(scope)) for scope in crowd.scopes]
    for rows in answers.split_by_owner():
        chunk = _AnswerChunk(crowd, answers, rows)
        for scope, common in sums:
            chunk.compute_scope_contrasts(scope, common)
        contrast[rows], influence[rows] = chunk.contrast, chunk.influence
        variance += np.bincount(answers.owner[rows], chunk.unanswered, n_owners)
    known = ~np.isnan(contrast)
    owner = answers.owner
    n = np.bincount(owner[known], minlength=n_owners)
    means = divide_where_positive(np.bincount(owner[known], contrast[known], n_owners), n)
    # A question enters as an answer's own one and among the other ones of the owner's answers.
    own = np.where(known, contrast - means[owner], 0.0)
    variance += np.bincount(owner, (own - influence) ** 2, n_owners)
    errors = np.sqrt(divide_where_positive(variance, np.where(n > 1, n * (n - 1.0), 0.0)))
    interval = compute_t_interval(means, errors, n)
    balance = divide_where_positive(np.bincount(owner, np.where(known, influence, 0), n_owners), n)
    reasons = [
        None if is_known else ONLY_ANSWER if is_alone else FEWER_QUESTIONS
        for is_known, is_alone in zip(known.tolist(), answers.alone.tolist(), strict=True)
    ]
    shared = np.bincount(owner[~answers.alone], minlength=n_owners) > 0
    return Contrasts(
        answers=contrast,
        reasons=reasons,
        means=means,
        errors=errors,
        low=interval.low,
        high=interval.high,
        owner_reasons=[
            None if count else FEWER_QUESTIONS if is_shared else ONLY_ANSWER
            for count, is_shared in zip(n.tolist(), shared.tolist(), strict=True)
        ],
        interval_reasons=list(interval.reasons),
        n=n,
        pseudovalues=contrast - influence + balance[owner],
    )


class _AnswerChunk:
    """Contrasts of a chunk of answers with exemplary answers that leave out their own author.

    The direction of such an exemplary answer is ``keep * exemplar - minus * vector``; where that
    difference loses digits, it is the row of `anew`, formed from the others' answers.

    Attributes
    ----------
    contrast : (r,) contrasts computed so far; NaN for none.
    influence : (r,) contribution of the answer's question to the mean cosines of the owner's other
        answers with other questions, summed over these answers. unanswered : (r,) squared
        contributions of the questions that the owner did not answer.
    """

    def __init__(self, crowd: CrowdExemplars, answers: _AnswersToContrast, rows: Integers) -> None:
        self.question, self.alone = answers.question[rows], answers.alone[rows]
        self.owner = answers.owner[rows]
        self.x, self.exemplar = (
            _select_float_rows(answers.vectors, rows),
            _select_float_rows(crowd.exemplars, self.question),
        )
        share, squared = answers.shares[rows], crowd.squared[self.question]
        own, inner = (
            _multiply_rows(self.x, self.x),
            _multiply_rows(self.x, self.exemplar),
        )
        rest = squared - 2 * share * inner + share**2 * own
        self.lost = (share > 0) & ~self.alone
        self.lost &= (share > 1 - SMALL_SHARE) | (rest < SMALL * squared)
        # Only answers of the crowd have a share, so that rows are the crowd's here.
        self.anew = crowd.average_others(rows[self.lost])
        others = np.maximum(crowd.lengths[self.question] - share * np.sqrt(own), 0.0)
        inverse = _invert_lengths(np.sqrt(np.where(rest > ZERO * others**2, rest, 0.0)))
        self.keep = np.where(self.lost | self.alone, 0.0, inverse)
        self.minus = self.keep * share
        # How far leaving the owner out changes the direction, along the exemplary answer.
        self.change = self.keep - _invert_lengths(np.sqrt(squared))
        self.unit = _invert_lengths(np.sqrt(own))
        self.near = self.unit * self._multiply_left_out(self.x)
        self.contrast = np.full(len(rows), np.nan)
        self.influence, self.unanswered = np.zeros((2, len(rows)))

    def _multiply_left_out(self, y: Vectors) -> Floats:
        """Return each row's inner product with its exemplary answer that leaves out the owner."""
        product = self.keep * _multiply_rows(self.exemplar, y)
        product -= self.minus * _multiply_rows(self.x, y)
        if self.lost.any():
            product[self.lost] = _multiply_rows(self.anew, y[self.lost])
        return product

    def compute_scope_contrasts(self, scope: QuestionScope, common: Vectors) -> None:
        """Set the contrasts of answers to a scope's questions: own cosine less the others' mean.

        Also add up `influence` and `unanswered`.

        `common` holds the sum of exemplary directions of each of its groups.
        """
        group = scope.group[self.question]
        member = group >= 0
        if not (scope.targets[self.question]).any():
            return
        # A segment is an owner in a group. The factor includes "no group" (-1), which would else
        # have the key of another owner's group.
        keys = self.owner * (len(scope.sizes) + 1) + group + 1
        _, first, segment = np.unique(keys, return_index=True, return_inverse=True)
        add = _build_sum_matrix(segment, member)
        delta = add @ _scale_rows(self.exemplar, self.change) - add @ _scale_rows(
            self.x, self.minus
        )
        if self.lost.any():
            delta = delta + _build_sum_matrix(segment, self.lost & member, self.lost) @ self.anew
        used = member & ~self.alone
        size = np.where(member[first], scope.sizes[group[first]], 0)
        # Without the owner, a question that only the owner answered has no exemplary answer.
        n = size - np.bincount(segment, member & self.alone)
        target = scope.targets[self.question] & ~self.alone & (n >= FEWEST_QUESTIONS)[segment]
        n_others = np.maximum(n - 1, 1)[segment]
        far = _multiply_rows(self.x, _select_float_rows(common, np.maximum(group, 0)))
        far = (
            self.unit * (far + _multiply_rows(self.x, _select_float_rows(delta, segment)))
            - self.near
        )
        far = np.where(target, far / n_others, 0.0)
        self.contrast = np.where(target, self.near - far, self.contrast)
        # Each used question against the owner's other answers, less what these have on average.
        mine = _build_sum_matrix(segment, target) @ _scale_rows(self.x, self.unit)
        column = self._multiply_left_out(_select_float_rows(mine, segment)) - np.where(
            target, self.near, 0.0
        )
        level = np.bincount(segment, far)[segment] - far
        influence = np.where(used, (column - level) / n_others, 0.0)
        self.influence += influence
        n_used = np.bincount(segment, used)
        mean_square = divide_where_positive(np.bincount(segment, influence**2), n_used, 0.0)
        self.unanswered[first] += (n - n_used) * mean_square


def _invert_lengths(lengths: Floats) -> Floats:
    """Return 1 / length for each length; 0 for a length of 0."""
    return divide_where_positive(1.0, lengths, 0.0)


def _select_float_rows(x: Vectors, rows: Integers) -> Any:
    """Return the rows of x with these numbers in float64, dense or sparse as x is."""
    return x[rows].astype(np.float64)


def _scale_rows(x: Any, factor: Floats) -> Any:
    """Return the rows of x, each multiplied by its factor."""
    if not sparse.issparse(x):
        return x * factor[:, None]
    return sparse.csr_array(sparse.diags_array(factor) @ x)


def _multiply_rows(x: Any, y: Any) -> Floats:
    """Return the dot product of each row of x with the same row of y."""
    if sparse.issparse(x) and sparse.issparse(y):
        # Not x * y, which multiplies matrices where x is one of SciPy's old sparse matrices.
        return np.asarray(x.multiply(y).sum(axis=1)).ravel()
    return np.asarray(np.einsum("rd,rd->r", convert_to_dense(x), convert_to_dense(y)))


def _compute_squared_norms(x: Vectors) -> Floats:
    """Return the squared norm of each row, computed in float64 a chunk of rows at a time."""
    step = max(1, CHUNK // x.shape[1])
    out = np.empty(x.shape[0])
    for begin in range(0, x.shape[0], step):
        part = _select_float_rows(x, np.arange(begin, min(begin + step, x.shape[0])))
        out[begin : begin + step] = _multiply_rows(part, part)
    return out


def _build_sum_matrix(
    segment: Integers, chosen: Booleans, columns: Booleans | None = None
) -> sparse.csr_array:
    """Return the sparse 0/1 matrix whose product adds up the chosen rows of each segment."""
    n_segments = int(segment.max(initial=-1)) + 1
    rows = np.arange(len(segment)) if columns is None else np.flatnonzero(columns)
    chosen_rows = chosen[rows]
    indices = np.flatnonzero(chosen_rows)
    data = (np.ones(len(indices)), (segment[rows[chosen_rows]], indices))
    return sparse.csr_array(data, shape=(n_segments, len(rows)))
