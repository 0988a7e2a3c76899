"""Agreement of an LLM judge with itself, experts and AQER; mean grades corrected by its error.

A judge, such as a language model, scores each answer several times and compares some pairs of
answers in both orders. All intervals come from a bootstrap over whole questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers, divide_where_positive
from evaluation.core.stats.inference.clustered import ClusteredEstimate, compute_clustered_interval
from evaluation.core.stats.inference.prediction_powered import PoweredMean, estimate_powered_mean
from evaluation.core.stats.statistics.agreement import cohen_kappa
from evaluation.core.stats.statistics.descriptive import pearson, spearman

# Scores that differ by less are equal.
SAME = 1e-9
# Workers with judged answers that a correlation of workers' means needs.
FEWEST_WORKERS = 5
TOO_FEW_WORKERS, TOO_FEW_JUDGED = "fewer_than_5_workers", "fewer_than_5_judged_workers"
ASKED_ONCE = "asked_once"

BETTER, WORSE, TIE = 1.0, 0.0, 0.5


@dataclass(frozen=True)
class PairVerdicts:
    """The judge's verdicts on pairs of answers to a question, each shown in both orders.

    Attributes
    ----------
    left, right : (P,) rows of the two answers.
    shown_first, shown_second : (P,) verdict on the left answer if it is shown first, or second.
        1 if it is better, 0 if it is worse, .5 for a tie, NaN without a verdict.
    """

    left: Integers
    right: Integers
    shown_first: Floats
    shown_second: Floats

    @property
    def has_both_verdicts(self) -> Booleans:
        """(P,) whether each pair has a verdict in both orders."""
        return ~np.isnan(self.shown_first + self.shown_second)


class JudgeAnalysis:
    """Statistics of an LLM judge's scores: agreement, and corrected mean grades.

    Parameters
    ----------
    scores : (N, R) scores of N answers in R repetitions; NaN without a score.
    questions, authors : (N,) codes of questions and of authors.
    people : (N,) whether the author is a worker; the others are models.
    grades : (N,) mean grade of the experts; NaN without a grade.
    aqer : (N,) AQER's leave-one-out score; NaN without a score.
    pairs : verdicts on pairs in both orders.
    scale : lowest and highest score.
    n_draws, seed : of the bootstrap.
    """

    def __init__(
        self,
        scores: Floats,
        questions: Integers,
        authors: Integers,
        people: Booleans,
        grades: Floats,
        aqer: Floats,
        pairs: PairVerdicts,
        scale: tuple[float, float] = (0.0, 5.0),
        n_draws: int = 400,
        seed: int = 0,
    ) -> None:
        self.scores, self.questions, self.authors = scores, questions, authors
        self.people, self.grades, self.aqer = people, grades, aqer
        self.pairs, self.scale = pairs, scale
        self.n_draws, self.seed = n_draws, seed

    @cached_property
    def mean_score(self) -> Floats:
        """Mean score of each answer over the repetitions; NaN if it has no score."""
        known = ~np.isnan(self.scores)
        return divide_where_positive(
            np.where(known, self.scores, 0.0).sum(axis=1), known.sum(axis=1)
        )

    # Agreement with itself.

    def compare_repetitions(self) -> dict[str, ClusteredEstimate]:
        """Return the judge's agreement with itself when it scores an answer again, by statistic.

        Returns
        -------
        same : share of pairs with equal scores, 0 to 1.
        difference : mean absolute difference of the scores.
        kappa : Cohen's kappa with quadratic weights; scores are in halves.
        """
        rows, first, second = [], [], []
        for a, b in combinations(range(self.scores.shape[1]), 2):
            # A sum is NaN where either score is missing.
            both = np.flatnonzero(~np.isnan(self.scores[:, a] + self.scores[:, b]))
            rows.append(both)
            first.append(self.scores[both, a])
            second.append(self.scores[both, b])
        if not rows:
            undefined = ClusteredEstimate(reason=ASKED_ONCE)
            return dict.fromkeys(("same", "difference", "kappa"), undefined)
        row, first_scores, second_scores = (np.concatenate(part) for part in (rows, first, second))
        difference = np.abs(first_scores - second_scores)
        same = (difference < SAME).astype(np.float64)
        # Kappa needs categories; many judges reply with half points.
        halves = np.rint(first_scores * 2), np.rint(second_scores * 2)
        return {
            "same": self._estimate_with_interval(row, _build_mean_statistic(same)),
            "difference": self._estimate_with_interval(row, _build_mean_statistic(difference)),
            "kappa": self._estimate_with_interval(row, _build_kappa_statistic(*halves)),
        }

    def compare_orders(self) -> dict[str, ClusteredEstimate]:
        """Return the effect of swapping two answers, and agreement of verdicts with scores.

        Returns
        -------
        same : share of pairs with the same verdict in both orders, 0 to 1.
        first : share of verdicts for the answer that is shown first, without ties; .5 means no
            effect of the order.
        as_scored, as_graded : share of verdicts that agree with the judge's own scores, or with the
            experts' grades. The verdict is the mean of both orders; ties are left out.
        """
        pairs = self.pairs
        both = np.flatnonzero(pairs.has_both_verdicts)
        first, second = pairs.shown_first[both], pairs.shown_second[both]
        same = (np.abs(first - second) < SAME).astype(np.float64)
        # `shown_second` is the verdict on the left answer; 1 minus it is that on the one shown
        # first.
        verdicts = np.concatenate([pairs.shown_first, 1.0 - pairs.shown_second])
        rows = np.concatenate([pairs.left, pairs.left])
        decided = np.flatnonzero(~np.isnan(verdicts) & (verdicts != TIE))
        mean = np.where(
            pairs.has_both_verdicts, (pairs.shown_first + pairs.shown_second) / 2, np.nan
        )
        return {
            "same": self._estimate_with_interval(pairs.left[both], _build_mean_statistic(same)),
            "first": self._estimate_with_interval(
                rows[decided], _build_mean_statistic(verdicts[decided])
            ),
            "as_scored": self._estimate_verdict_agreement(self.mean_score, mean),
            "as_graded": self._estimate_verdict_agreement(self.grades, mean),
        }

    def _estimate_verdict_agreement(self, values: Floats, verdict: Floats) -> ClusteredEstimate:
        """Return the share of decided pairs whose verdict agrees with the order of `values`."""
        pairs = self.pairs
        difference = values[pairs.left] - values[pairs.right]
        decided = np.flatnonzero(
            (np.abs(difference) > SAME) & ~np.isnan(verdict) & (verdict != TIE)
        )
        agree = ((difference[decided] > 0) == (verdict[decided] > TIE)).astype(np.float64)
        return self._estimate_with_interval(pairs.left[decided], _build_mean_statistic(agree))

    # Agreement with experts and with AQER.

    def compare_with_experts(self) -> dict[str, ClusteredEstimate]:
        """Return the judge's agreement with the experts' grades of the same answers.

        Returns
        -------
        pearson, spearman : correlations of scores and grades.
        pearson_workers : correlation of workers' means over their judged answers.
        kappa : with quadratic weights; both are rounded to whole numbers.
        error : mean of score minus grade; positive means too generous.
        distance : mean absolute difference.
        """
        rows = np.flatnonzero(~np.isnan(self.mean_score + self.grades))
        score, grade = self.mean_score[rows], self.grades[rows]
        return {
            **self._estimate_correlations(rows, score, grade, TOO_FEW_JUDGED),
            "kappa": self._estimate_with_interval(
                rows, _build_kappa_statistic(np.rint(score), np.rint(grade))
            ),
            "error": self._estimate_with_interval(rows, _build_mean_statistic(score - grade)),
            "distance": self._estimate_with_interval(
                rows, _build_mean_statistic(np.abs(score - grade))
            ),
        }

    def compare_with_aqer(self) -> dict[str, ClusteredEstimate]:
        """Return the correlations of the judge's scores with AQER's scores, by metric name."""
        rows = np.flatnonzero(~np.isnan(self.mean_score + self.aqer))
        return self._estimate_correlations(
            rows, self.mean_score[rows], self.aqer[rows], TOO_FEW_WORKERS
        )

    def compute_correlation_difference(self) -> dict[str, ClusteredEstimate]:
        """Return the judge's correlation with experts' grades minus that of AQER's scores.

        Only answers with all three values count.

        Returns
        -------
        aqer_pearson : AQER's correlation with the grades.
        gain : the judge's correlation minus AQER's, from the same draws.
        """
        rows = np.flatnonzero(~np.isnan(self.mean_score + self.grades + self.aqer))
        score, grade, aqer = self.mean_score[rows], self.grades[rows], self.aqer[rows]

        # Both correlations come from one sample, so their errors cancel in part.
        def compute_difference(sample: Integers) -> float | None:
            judge_r = pearson(score[sample], grade[sample])
            aqer_r = pearson(aqer[sample], grade[sample])
            return None if judge_r is None or aqer_r is None else judge_r - aqer_r

        return {
            "aqer_pearson": self._estimate_with_interval(
                rows, lambda sample: pearson(aqer[sample], grade[sample])
            ),
            "gain": self._estimate_with_interval(rows, compute_difference),
        }

    def _estimate_correlations(
        self, rows: Integers, a: Floats, b: Floats, too_few: str
    ) -> dict[str, ClusteredEstimate]:
        """Return the correlations of scores `a` and `b` over answers, and over workers' means.

        `too_few` is the reason if there are fewer than `FEWEST_WORKERS` workers.
        """
        # Authors include models; only workers' means are correlated.
        people = self.people[rows]
        authors = self.authors[rows]
        n_workers = len(np.unique(authors[people]))

        def correlate_worker_means(sample: Integers) -> float | None:
            answers = sample[people[sample]]
            count = np.bincount(authors[answers])
            a_sums, b_sums = (
                np.bincount(authors[answers], weights=values[answers]) for values in (a, b)
            )
            return pearson(
                divide_where_positive(a_sums, count), divide_where_positive(b_sums, count)
            )

        # The interval draws questions, but the correlation is over workers: n counts workers.
        workers = (
            replace(self._estimate_with_interval(rows, correlate_worker_means), n=n_workers)
            if n_workers >= FEWEST_WORKERS
            else ClusteredEstimate(n=n_workers, reason=too_few)
        )
        return {
            "pearson": self._estimate_with_interval(
                rows, lambda sample: pearson(a[sample], b[sample])
            ),
            "spearman": self._estimate_with_interval(
                rows, lambda sample: spearman(a[sample], b[sample])
            ),
            "pearson_workers": workers,
        }

    # Mean grades corrected by the judge's measured error.

    def estimate_mean_grade(self, weight: float | None = None) -> PoweredMean:
        """Return the mean grade of all workers' answers, corrected by the judge's error.

        Parameters
        ----------
        weight : reliance on the judge, see `estimate_powered_mean`; None estimates it.
        """
        # Without models: the mean is that of workers' answers.
        rows = self.people
        return estimate_powered_mean(
            self.grades[rows], self.mean_score[rows], self.questions[rows], weight
        )

    def estimate_author_mean_grade(self, author: int, weight: float | None = None) -> PoweredMean:
        """Return one author's mean grade, corrected by the judge's error.

        The judge's error is measured on this author's answers only, since it may differ between
        authors.
        """
        rows = self.authors == author
        return estimate_powered_mean(
            self.grades[rows], self.mean_score[rows], self.questions[rows], weight
        )

    def _estimate_with_interval(
        self, rows: Integers, statistic: Callable[[Integers], float | None]
    ) -> ClusteredEstimate:
        """Return a statistic of the answers in `rows`, with a bootstrap interval over questions.

        `statistic` gets a sample of positions in `rows`.
        """
        return compute_clustered_interval(statistic, self.questions[rows], self.n_draws, self.seed)


def _build_mean_statistic(values: Floats) -> Callable[[Integers], float | None]:
    """Return a function that maps sampled positions to the mean of their values."""
    return lambda sample: float(values[sample].mean())


def _build_kappa_statistic(first: Floats, second: Floats) -> Callable[[Integers], float | None]:
    """Return a function that maps sampled positions to quadratically weighted Cohen's kappa."""
    return lambda sample: cohen_kappa(first[sample], second[sample], weights="quadratic")
