"""How far a judge can be relied on: with itself, with experts, with AQER.

A judge, such as a language model, has scored answers, each several times, and compared some pairs
of answers in both orders. All intervals are of whole questions drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.inference.prediction_powered import PoweredMean, powered_mean
from evaluation.methods.inference.resampled import Estimated, clustered_interval
from evaluation.methods.statistics.correlation import pearson, spearman
from evaluation.methods.statistics.kappa import cohen_kappa
from evaluation.methods.undefined import ratio

# Scores that differ by less are the same; grades are rounded to whole numbers for kappa.
SAME = 1e-9
FEWEST_WORKERS = 5
TOO_FEW_WORKERS, TOO_FEW_JUDGED = "fewer_than_5_workers", "fewer_than_5_judged_workers"
ASKED_ONCE = "asked_once"

BETTER, WORSE, TIE = 1.0, 0.0, 0.5


@dataclass(frozen=True)
class Compared:
    """P pairs of answers to one question each, compared in both orders.

    Attributes
    ----------
    one, other : (P,) rows of the answers.
    shown_first, shown_second : (P,) verdict on `one` when it was shown first and when second: 1 it
        is better, 0 the other is, .5 a tie; NaN for none.
    """

    one: Integers
    other: Integers
    shown_first: Floats
    shown_second: Floats

    @property
    def both(self) -> Booleans:
        """(P,) whether both orders have a verdict."""
        return ~np.isnan(self.shown_first + self.shown_second)


class JudgeAnalysis:
    """What a judge's scores are worth.

    Parameters
    ----------
    scores : (N, R) of N answers, asked R times, NaN for none.
    questions, authors : (N,) codes of what was asked and of who answered.
    people : (N,) whether the author is a worker; the others are models.
    grades : (N,) experts' mean grade, NaN for none. scale : ends of scores and grades.
    aqer : (N,) leave-one-out score of AQER, NaN for none.
    compared : pairs in both orders.
    n_draws, seed : of the intervals.
    """

    def __init__(
        self,
        scores: Floats,
        questions: Integers,
        authors: Integers,
        people: Booleans,
        grades: Floats,
        aqer: Floats,
        compared: Compared,
        scale: tuple[float, float] = (0.0, 5.0),
        n_draws: int = 400,
        seed: int = 0,
    ) -> None:
        self.scores, self.questions, self.authors = scores, questions, authors
        self.people, self.grades, self.aqer = people, grades, aqer
        self.compared, self.scale = compared, scale
        self.n_draws, self.seed = n_draws, seed

    @cached_property
    def score(self) -> Floats:
        """(N,) mean of the scores that an answer got; NaN where it got none."""
        known = ~np.isnan(self.scores)
        return ratio(np.where(known, self.scores, 0.0).sum(axis=1), known.sum(axis=1))

    # Agreement with itself.

    def repetition(self) -> dict[str, Estimated]:
        """Return how far askings of one answer agree: `same`, `difference`, `kappa`.

        `same` is the share of pairs of askings with the same score, 0 to 1, `difference` their mean
        absolute difference, `kappa` that of Cohen with quadratic weights, scores in halves, 1 for
        full agreement. Over all pairs of two askings of an answer.
        """
        rows, first, second = [], [], []
        for one, other in combinations(range(self.scores.shape[1]), 2):
            both = np.flatnonzero(~np.isnan(self.scores[:, one] + self.scores[:, other]))
            rows.append(both)
            first.append(self.scores[both, one])
            second.append(self.scores[both, other])
        if not rows:
            nothing = Estimated(None, None, None, 0, 0, ASKED_ONCE)
            return dict.fromkeys(("same", "difference", "kappa"), nothing)
        row, a, b = (np.concatenate(part) for part in (rows, first, second))
        apart = np.abs(a - b)
        same = (apart < SAME).astype(np.float64)
        halves = np.rint(a * 2), np.rint(b * 2)
        return {
            "same": self._interval(row, _mean_of(same)),
            "difference": self._interval(row, _mean_of(apart)),
            "kappa": self._interval(row, _kappa_of(*halves)),
        }

    def order(self) -> dict[str, Estimated]:
        """Return how far the order of two answers matters.

        `same` is the share of pairs with the same verdict in both orders, 0 to 1; `first` the share
        of verdicts, ties aside, for the answer that was shown first, .5 where the order does not
        matter; `as_scored` and `as_graded` the share of pairs, ties aside, whose verdict (the mean
        of both orders) agrees with the judge's own scores and with experts' grades.
        """
        pairs = self.compared
        both = np.flatnonzero(pairs.both)
        one, swapped = pairs.shown_first[both], pairs.shown_second[both]
        same = (np.abs(one - swapped) < SAME).astype(np.float64)
        # A verdict on the answer that was shown first; of the second order it is the other one.
        shown = np.concatenate([pairs.shown_first, 1.0 - pairs.shown_second])
        of_pair = np.concatenate([pairs.one, pairs.one])
        decided = np.flatnonzero(~np.isnan(shown) & (shown != TIE))
        mean = np.where(pairs.both, (pairs.shown_first + pairs.shown_second) / 2, np.nan)
        return {
            "same": self._interval(pairs.one[both], _mean_of(same)),
            "first": self._interval(of_pair[decided], _mean_of(shown[decided])),
            "as_scored": self._as_ordered_by(self.score, mean),
            "as_graded": self._as_ordered_by(self.grades, mean),
        }

    def _as_ordered_by(self, values: Floats, verdict: Floats) -> Estimated:
        """Return the share of decided pairs that `values` (N,) order alike."""
        pairs = self.compared
        step = values[pairs.one] - values[pairs.other]
        told = np.flatnonzero((np.abs(step) > SAME) & ~np.isnan(verdict) & (verdict != TIE))
        agree = ((step[told] > 0) == (verdict[told] > TIE)).astype(np.float64)
        return self._interval(pairs.one[told], _mean_of(agree))

    # Agreement with others.

    def experts(self) -> dict[str, Estimated]:
        """Return agreement with the experts' grades of the same answers.

        `pearson`, `spearman`; `kappa` with quadratic weights, both rounded to whole numbers;
        `error`, the mean of score less grade (positive: too kind) and `distance`, the mean of its
        size; `pearson_workers`, of workers' means over their judged answers.
        """
        rows = np.flatnonzero(~np.isnan(self.score + self.grades))
        score, grade = self.score[rows], self.grades[rows]
        return {
            **self._correlations(rows, score, grade, TOO_FEW_JUDGED),
            "kappa": self._interval(rows, _kappa_of(np.rint(score), np.rint(grade))),
            "error": self._interval(rows, _mean_of(score - grade)),
            "distance": self._interval(rows, _mean_of(np.abs(score - grade))),
        }

    def with_aqer(self) -> dict[str, Estimated]:
        """Return agreement with AQER's scores: `pearson`, `spearman`, `pearson_workers`."""
        rows = np.flatnonzero(~np.isnan(self.score + self.aqer))
        return self._correlations(rows, self.score[rows], self.aqer[rows], TOO_FEW_WORKERS)

    def against_aqer(self) -> dict[str, Estimated]:
        """Return whose scores agree better with the experts: the judge's or AQER's.

        `aqer_pearson` is AQER's correlation with the grades, on the answers that have all three,
        `gain` the judge's less AQER's, drawn together.
        """
        rows = np.flatnonzero(~np.isnan(self.score + self.grades + self.aqer))
        score, grade, aqer = self.score[rows], self.grades[rows], self.aqer[rows]

        def gain(some: Integers) -> float | None:
            mine, theirs = pearson(score[some], grade[some]), pearson(aqer[some], grade[some])
            return None if mine is None or theirs is None else mine - theirs

        return {
            "aqer_pearson": self._interval(rows, lambda some: pearson(aqer[some], grade[some])),
            "gain": self._interval(rows, gain),
        }

    def _correlations(
        self, rows: Integers, a: Floats, b: Floats, too_few: str
    ) -> dict[str, Estimated]:
        people = self.people[rows]
        authors = self.authors[rows]
        n_workers = len(np.unique(authors[people]))

        def of_workers(some: Integers) -> float | None:
            mine = some[people[some]]
            count = np.bincount(authors[mine])
            one, other = (np.bincount(authors[mine], weights=v[mine]) for v in (a, b))
            return pearson(ratio(one, count), ratio(other, count))

        workers = (
            replace(self._interval(rows, of_workers), n=n_workers)
            if n_workers >= FEWEST_WORKERS
            else Estimated(None, None, None, n_workers, 0, too_few)
        )
        return {
            "pearson": self._interval(rows, lambda some: pearson(a[some], b[some])),
            "spearman": self._interval(rows, lambda some: spearman(a[some], b[some])),
            "pearson_workers": workers,
        }

    # Scores corrected by their measured error.

    def corrected(self, weight: float | None = None) -> PoweredMean:
        """Return the mean grade of all workers' answers, questions whole; see `powered_mean`."""
        mine = self.people
        return powered_mean(self.grades[mine], self.score[mine], self.questions[mine], weight)

    def corrected_of(self, author: int, weight: float | None = None) -> PoweredMean:
        """Return the mean grade of one author's answers.

        By the judge's error on this author's own answers: an error measured on others need not be
        the same.
        """
        mine = self.authors == author
        return powered_mean(self.grades[mine], self.score[mine], self.questions[mine], weight)

    def _interval(self, rows: Integers, statistic: Callable[[Integers], float | None]) -> Estimated:
        """Return the statistic of positions in `rows`, with its interval over questions."""
        return clustered_interval(statistic, self.questions[rows], self.n_draws, self.seed)


def _mean_of(values: Floats) -> Callable[[Integers], float | None]:
    return lambda some: float(values[some].mean())


def _kappa_of(one: Floats, other: Floats) -> Callable[[Integers], float | None]:
    return lambda some: cohen_kappa(one[some], other[some], weights="quadratic")
