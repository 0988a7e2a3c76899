"""Score answers without a vote: of excluded workers, and of collapsed groups' members.

They are compared with the voters' exemplary answers, as models' answers are: an excluded worker
with those of all units, a member of a group with those of all units except the group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.fitted import FittedCrowd
from evaluation.consensus.methods.fixed_point import WorkerMeans
from evaluation.consensus.methods.question_contrast import Contrasts
from evaluation.consensus.methods.resampling import DrawnVotes, compute_score_intervals
from evaluation.consensus.methods.targets import ComparedAnswers, build_compared_answers
from evaluation.consensus.methods.votes import build_vote
from evaluation.core.stats.cells import (
    Cells,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.inference.intervals import compute_t_interval


@dataclass(frozen=True)
class NonVoterScores:
    """Raw scores with intervals of workers who do not vote.

    Attributes
    ----------
    raw, low, high : (B,) raw scores with 95% intervals; NaN if undefined. reasons : (B,) why a
        worker has no interval; else None.
    drawn : (B, n_draws) raw scores in the bootstrap draws; None without draws.
    n : (B,) number of scored answers.
    """

    raw: Floats
    low: Floats
    high: Floats
    reasons: list[str | None]
    drawn: Floats | None
    n: Integers


class NonVoters:
    """Workers without a vote: their answers, and the voters' exemplary answers to compare with.

    Parameters
    ----------
    voters : fit of the rows `voting` of `vectors` and `camps`.
    vectors : (N, d). voting : (V,) rows that vote. rows : (R,) rows without a vote.
    worker : (R,) codes 0..B-1. question : (R,) codes of the voters' questions, -1 for none.
    without : (R,) unit whose vote is left out of the exemplary answer, -1 for none.
    camps : (N,) camp of each answer, as in `AQER.fit`.
    """

    def __init__(
        self,
        voters: FittedCrowd,
        vectors: object,
        voting: Integers,
        rows: Integers,
        worker: Integers,
        question: Integers,
        without: Integers,
        camps: Integers | None,
    ) -> None:
        self._voters = voters
        self._vectors, self._rows, self._without = vectors, rows, without
        self._worker, self._question = worker, question
        self._n_workers = int(worker.max(initial=-1)) + 1
        self._parts: list[tuple[Integers, ComparedAnswers]] = []
        of_voters = None if camps is None else camps[voting]
        for unit in np.unique(without).tolist():
            mine = np.flatnonzero((without == unit) & (question >= 0))
            part = self._build_part_without_unit(vectors, rows, mine, unit, of_voters)
            if part is not None:
                self._parts.append(part)

    def _build_part_without_unit(
        self,
        vectors: object,
        rows: Integers,
        own_rows: Integers,
        unit: int,
        camps: Integers | None,
    ) -> tuple[Integers, ComparedAnswers] | None:
        """Return a unit's answer rows, and exemplary answers without that unit; None if none."""
        voters = self._voters
        vote, of_voters = voters.vote, voters.answer_vectors
        question_codes = self._question[own_rows]
        # Members of a unit are compared with exemplary answers in which the unit has no vote.
        if unit >= 0:
            # The leave-one-out formula would subtract the answer itself, but the unit votes with
            # its medoid, another one: the vote is built anew without the unit.
            cells = vote.cells
            other_cells = np.flatnonzero(
                (cells.worker != unit) & np.isin(cells.question, question_codes)
            )
            if not len(other_cells):
                return None
            code, questions = encode_labels(cells.question[other_cells])
            new_code = np.full(cells.n_questions, -1)
            new_code[questions.astype(np.int64)] = np.arange(len(questions))
            own_rows = own_rows[new_code[question_codes] >= 0]
            question_codes = new_code[self._question[own_rows]]
            others = Cells.from_codes(
                cells.worker[other_cells], code, cells.n_workers, len(questions)
            )
            others = others.renumber_rows(cells.row[other_cells])
            vote = build_vote(of_voters, others, voters.similarity, voters.aggregation, camps)
        chosen = vectors[rows[own_rows]]  # type: ignore[index]
        return own_rows, build_compared_answers(vote, of_voters, chosen, question_codes)

    def compute_similarities(self, votes: Floats) -> Floats:
        """Return each answer's similarity to its exemplary answer (R, D), by each set of votes."""
        out = np.full((len(self._question), votes.shape[1]), np.nan)
        for mine, targets in self._parts:
            out[mine] = targets.compute_similarities(votes)
        return out

    def compute_contrasts(self) -> Contrasts:
        """Return the question contrasts of the answers, each without the vote of its own unit."""
        voters, n = self._voters, (len(self._rows), self._n_workers)
        if voters.contrast_obstacle is not None:
            return Contrasts.build_undefined(*n, voters.contrast_obstacle)
        out = Contrasts.build_undefined(*n, "no_exemplar")
        for unit in np.unique(self._without).tolist():
            exemplars = voters.build_exemplars(None if unit < 0 else unit)
            mine = np.flatnonzero((self._without == unit) & (self._question >= 0))
            mine = mine[exemplars.n_answers[self._question[mine]] > 0]
            owners, place = np.unique(self._worker[mine], return_inverse=True)
            others = exemplars.compare_others(
                self._vectors[self._rows[mine]],  # type: ignore[index]
                place,
                self._question[mine],
                len(owners),
            )
            out.copy_contrasts(mine, owners, others, np.arange(len(owners)))
        return out

    def compute_scores(self, *, by_contrast: bool = False) -> NonVoterScores:
        """Return raw scores with intervals of the workers who do not vote.

        With `by_contrast` the raw scores are their question contrast. Without a share in the
        exemplary answer, an interval needs no widening: Student's t, as for leave-one-out scores.
        Effects and weights of questions are estimated again in each draw.
        """
        voters = self._voters
        if by_contrast:
            return self._compute_contrast_scores(voters.drawn)
        vote, rules = voters.vote, voters.rules
        means = WorkerMeans(vote.cells, rules)
        of_voters = vote.compute_similarities(voters.previous, leave_one_out=rules.leave_one_out)
        effects, weight = means.compute_question_effects(of_voters)
        scores = self.compute_similarities(voters.previous)
        raw = self._compute_means(scores, effects, weight)
        n = np.bincount(self._worker[~np.isnan(scores[:, 0])], minlength=self._n_workers)
        undefined = np.full(self._n_workers, np.nan)
        if voters.drawn is not None:
            drawn = self._compute_drawn_scores(
                voters.drawn, rules.difficulty or rules.discrimination
            )
            low, high, reasons = compute_score_intervals(
                raw[:, 0], drawn, n, leave_one_out=True, cosine=voters.similarity == "cosine"
            )
            return NonVoterScores(raw[:, 0], low, high, reasons, drawn, n)
        if not rules.leave_one_out:
            reasons = ["no_draws"] * self._n_workers
            return NonVoterScores(raw[:, 0], undefined, undefined, reasons, None, n)
        interval = compute_t_interval(
            raw[:, 0], self._compute_errors(scores, effects, weight, raw, n), n
        )
        return NonVoterScores(
            raw[:, 0], interval.low, interval.high, list(interval.reasons), None, n
        )

    def _compute_contrast_scores(self, drawn: DrawnVotes | None) -> NonVoterScores:
        """Return the question contrasts of the non-voting workers, as their raw scores."""
        contrasts = self.compute_contrasts()
        in_draws = None
        if drawn is not None:
            in_draws = contrasts.average_in_draws(drawn, self._worker, self._question)
        return NonVoterScores(
            contrasts.means,
            contrasts.low,
            contrasts.high,
            contrasts.interval_reasons,
            in_draws,
            contrasts.n,
        )

    def _compute_means(self, s: Floats, effects: Floats, weight: Floats) -> Floats:
        """Return each worker's weighted mean score (B, D), with question effects subtracted."""
        known = ~np.isnan(s)
        cell_weights = np.where(known, weight[self._question], 0.0)
        values = np.where(known, s - effects[self._question], 0.0)
        ones = np.ones(len(s))
        to_worker = sparse.csr_array(
            (ones, (self._worker, np.arange(len(s)))), shape=(self._n_workers, len(s))
        )
        total, count = to_worker @ (cell_weights * values), to_worker @ cell_weights
        return divide_where_positive(total, count)

    def _compute_drawn_scores(self, drawn: DrawnVotes, adjusted: bool) -> Floats:
        """Return each worker's raw score in each bootstrap draw of the voters (B, n_draws)."""
        vote, rules = self._voters.vote, self._voters.rules
        out = np.empty((self._n_workers, drawn.draws.n_draws))
        for columns, times, votes in drawn:
            effects, weight = np.zeros_like(times), np.ones_like(times)
            if adjusted:
                means = WorkerMeans(vote.cells, rules, times[vote.cells.question])
                scores = vote.compute_similarities(votes, leave_one_out=rules.leave_one_out)
                effects, weight = means.compute_question_effects(scores)
            # A draw takes questions several times or not at all: `times` is how often.
            out[:, columns] = self._compute_means(
                self.compute_similarities(votes), effects, weight * times
            )
        return out

    def _compute_errors(
        self, s: Floats, effects: Floats, weight: Floats, raw: Floats, n: Integers
    ) -> Floats:
        """Return the standard error of each worker's raw score (B,), in closed form."""
        known = ~np.isnan(s[:, 0])
        worker, question = self._worker[known], self._question[known]
        cell_weights = weight[question, 0]
        residuals = s[known, 0] - effects[question, 0] - raw[worker, 0]
        squares = np.bincount(worker, cell_weights**2 * residuals**2, self._n_workers)
        total = np.bincount(worker, cell_weights, self._n_workers)
        # As for the variance of a sample: squared residuals from an estimated mean are too small by
        # (n - 1) / n.
        correction = divide_where_positive(n, n - 1)
        return np.sqrt(squares * correction) / np.where(total > 0, total, np.nan)
