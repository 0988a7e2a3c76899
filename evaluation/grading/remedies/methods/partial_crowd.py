"""AQER in which some answers do not vote: of excluded workers and of collapsed copies."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evaluation.consensus.methods.estimator import AQER
from evaluation.consensus.methods.fitted import DISCONNECTED, FitResult, FittedCrowd
from evaluation.consensus.methods.fixed_point import scale_to_grades
from evaluation.consensus.methods.question_contrast import Contrasts
from evaluation.consensus.methods.resampling import DrawStore, Progress, map_to_grades
from evaluation.consensus.methods.scale import (
    EVERYBODY,
    FEWEST_ANSWERERS,
    FEWEST_QUESTIONS,
    Electorate,
    number_connected_groups,
    rank_within_groups,
)
from evaluation.consensus.methods.votes import convert_vectors
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, T, encode_labels
from evaluation.core.stats.grams import Vectors
from evaluation.grading.remedies.methods.bystanders import NonVoters
from evaluation.grading.remedies.methods.copies import VotingUnits

EXCLUDED = "excluded"


@dataclass(frozen=True, kw_only=True)
class PartialCrowdFit(FitResult):
    """Learned values of a fit in which some answers have no vote.

    Attributes
    ----------
    voters : fit of the voting units. units : the units.
    asked : (V,) codes, among all questions, of the questions that voters answered.
    others : input rows that are not their worker's own vote. bystanders : answers in these rows.
    voting : (M,) whether a worker votes alone. bystander_workers : codes of the other workers.
    """

    voters: FittedCrowd
    units: VotingUnits
    asked: Integers
    others: Integers
    bystanders: NonVoters
    voting: Booleans
    bystander_workers: Integers

    @property
    def crowd(self) -> FittedCrowd:
        """The fit of the units that vote; a group of copiers is one unit."""
        return self.voters

    @property
    def out_of_ranking(self) -> list[str | None]:
        """Status of each worker (M,): "excluded" for excluded workers, None for others."""
        return [EXCLUDED if out else None for out in self.units.excluded.tolist()]

    def compute_exemplars(self) -> Vectors:
        """Return each question's exemplary answer (Q, d), of voters only; NaN without a voter.

        Sparse ones are zero there.
        """
        voter_exemplars = self.voters.compute_exemplars()
        if sparse.issparse(voter_exemplars):
            ones = np.ones(len(self.asked))
            shape = (len(self.questions), len(self.asked))
            to_questions = sparse.csr_array((ones, (self.asked, np.arange(len(ones)))), shape=shape)
            return sparse.csr_array(to_questions @ voter_exemplars)
        return self._expand_to_questions(np.asarray(voter_exemplars), np.nan)

    @cached_property
    def scores(self) -> Floats:
        """Similarity of each answer (N,) to the exemplary answer that gave the raw scores."""
        return self._merge_scores(self.voters.scores, self.voters.previous)

    @cached_property
    def final_scores(self) -> Floats:
        """Similarity of each answer (N,) to the exemplary answer by the final voting weights."""
        return self._merge_scores(self.voters.final_scores, self.voters.votes[:, None])

    @cached_property
    def leave_one_out_scores(self) -> Floats:
        """Similarity of each answer (N,) to the exemplary answer without its own author."""
        return self._merge_scores(self.voters.leave_one_out_scores, self.voters.votes[:, None])

    @cached_property
    def contrasts(self) -> Contrasts:
        """Question contrasts of all answers and workers, each compared as for its raw score."""
        out = Contrasts.build_undefined(int(self.n_answers.sum()), len(self.workers), "no_exemplar")
        members, voters = np.flatnonzero(self.voting), self.voters.contrasts
        out.copy_contrasts(self.units.rows, members, voters, self.units.of_worker[members])
        of_others = self.bystanders.compute_contrasts()
        everybody = np.arange(len(self.bystander_workers))
        out.copy_contrasts(self.others, self.bystander_workers, of_others, everybody)
        return out

    @cached_property
    def nearest(self) -> Integers:
        """Row of the voting answer nearest to each question's exemplary answer (Q,); -1 if none."""
        return self._expand_to_questions(self.units.rows[self.voters.nearest], -1)

    @cached_property
    def dispersion(self) -> Floats:
        """Dispersion of the voting answers to each question (Q,); NaN without any."""
        return self._expand_to_questions(self.voters.dispersion, np.nan)

    def _expand_to_questions(self, values: NDArray[T], missing: float) -> NDArray[T]:
        """Return values of all questions, with `missing` for questions that no voter answered."""
        return _place_values(values, self.asked, len(self.questions), missing)

    def _merge_scores(self, of_voters: Floats, votes: Floats) -> Floats:
        """Return the score of each answer (N,), from the scores of voters and of non-voters."""
        out = _place_values(of_voters, self.units.rows, int(self.n_answers.sum()), np.nan)
        # The medoids' rows are among these: as a member's answer each is compared with the others.
        out[self.others] = self.bystanders.compute_similarities(votes)[:, 0]
        return out


def fit_partial_crowd(
    aqer: AQER,
    vectors: ArrayLike | Vectors,
    workers: ArrayLike,
    questions: ArrayLike,
    initial_scores: ArrayLike | None = None,
    progress: Progress | None = None,
    draw_store: DrawStore | None = None,
    *,
    units: VotingUnits,
    # Measured: with a quarter the others keep their order in all runs, with a full vote in 80% or
    # more where the copied answer is a good one.
    group_vote: float = 0.25,
    electorate: Electorate = EVERYBODY,
    camps: ArrayLike | None = None,
    question_groups: ArrayLike | None = None,
) -> AQER:
    """Return `aqer`, fitted to all workers although only some of them vote.

    The voters are graded exactly as if the others had not answered. An excluded worker gets a raw
    score against the voters' exemplary answers, weight 0, and neither grade nor rank. A group of
    copies is one unit: its medoid answers vote with `group_vote` times the weight of one worker of
    the same grade, leave-one-out scores leave out the whole group, and the minimum and maximum of
    the grades ignore it. Its members' own answers are scored against the exemplary answers of the
    other units, and their grades are clipped to 0..1.

    The result `aqer.fitted_` is a `PartialCrowdFit`. It differs from that of `AQER.fit` over all
    workers and answers: `weights_` of a group's members are equal parts of its weight, so that all
    sum to 1; `exemplars`, `ceiling_`, the iterations and the comparison with models are those of
    the voters; `scores_` of answers without a vote compare them with the others' exemplary answers,
    NaN without one; `n_workers_of_question_` counts units, 0 without a voter.

    Parameters
    ----------
    units : units that vote, by codes of workers in order of first appearance.
    group_vote : share of a vote that a group has, above 0 and at most 1.
    electorate : voting rules of the units.

    The other parameters and the errors are those of `AQER.fit`; ValueError for another
    `group_vote`.
    """
    if not 0 < group_vote <= 1:
        raise ValueError(f"group_vote must be above 0 and at most 1, got {group_vote}")
    x = convert_vectors(vectors, unit_length=aqer.unit_length)
    labels, rows = np.asarray(questions), units.rows
    in_camps = None if camps is None else encode_labels(camps)[0]
    # By the signature, so that an option that is added later is not forgotten here.
    of_units = {name: getattr(aqer, name) for name in inspect.signature(AQER).parameters}
    # `convert_vectors` has made the rows unit length already.
    voters = AQER(**{**of_units, "unit_length": False}).fit(
        x[rows],
        units.unit,
        labels[rows],
        None if initial_scores is None else np.asarray(initial_scores)[rows],
        progress,
        draw_store,
        electorate=units.build_electorate(group_vote, electorate),
        camps=None if in_camps is None else in_camps[rows],
        question_groups=None if question_groups is None else np.asarray(question_groups)[rows],
    )
    aqer.fitted_ = _add_non_voters(
        voters.fitted_.crowd,
        units,
        x,
        workers,
        labels,
        in_camps,
        by_contrast=aqer.question_contrast,
    )
    return aqer


def _add_non_voters(
    voters: FittedCrowd,
    units: VotingUnits,
    vectors: Vectors,
    workers: ArrayLike,
    labels: NDArray[np.generic],
    camps: Integers | None,
    *,
    by_contrast: bool,
) -> PartialCrowdFit:
    """Return the learned values of all workers: the voters', and scores of the others."""
    worker, worker_labels = encode_labels(workers)
    asked_codes, questions = encode_labels(labels)
    m = len(worker_labels)
    code_of_question = {label: code for code, label in enumerate(questions.tolist())}
    voted_questions = np.array(
        [code_of_question[label] for label in voters.questions.tolist()], dtype=np.int64
    )
    code_among_voters = {label: code for code, label in enumerate(voters.questions.tolist())}
    question = np.array(
        [code_among_voters.get(label, -1) for label in labels.tolist()], dtype=np.int64
    )
    shared = voters.n_workers_of_question >= FEWEST_ANSWERERS
    # -1 (nobody who votes answered it) reads the last question: masked by the first condition.
    is_shared = (question >= 0) & shared[question]
    supported = np.bincount(worker, is_shared, m) >= FEWEST_QUESTIONS
    unit, excluded = units.of_worker, units.excluded
    size = np.bincount(unit[~excluded], minlength=units.n_units)
    # Likewise the unit -1 of an excluded worker.
    voting = ~excluded & (size[unit] == 1)
    others = np.flatnonzero(~voting[worker])
    bystander, codes = encode_labels(worker[others])
    bystander_workers = codes.astype(np.int64)
    bystanders = NonVoters(
        voters,
        vectors,
        units.rows,
        others,
        bystander,
        question[others],
        unit[worker[others]],
        camps,
    )
    bystander_scores = bystanders.compute_scores(by_contrast=by_contrast)

    def merge_values(of_units: NDArray[T], of_others: NDArray[T]) -> NDArray[T]:
        """Return the values of all workers in one array, from voters' and non-voters' values."""
        out = np.empty((m, *of_units.shape[1:]), dtype=of_units.dtype)
        out[voting], out[bystander_workers] = of_units[unit[voting]], of_others
        return out

    raw = merge_values(voters.raw, bystander_scores.raw)
    low, high = (
        merge_values(voters.raw_low, bystander_scores.low),
        merge_values(voters.raw_high, bystander_scores.high),
    )
    reasons = (
        np.array(part, dtype=object) for part in (voters.interval_reasons, bystander_scores.reasons)
    )
    drawn_raw = None
    if voters.drawn_raw is not None and bystander_scores.drawn is not None:
        drawn_raw = merge_values(voters.drawn_raw, bystander_scores.drawn)
    grades = grade_low = grade_high = np.full(m, np.nan)
    if voters.ranked:
        # Collapsed and excluded workers must not set the minimum and maximum of the grades.
        on_scale = np.where(voting, raw, np.nan)
        grades, grade_low, grade_high = (
            np.where(excluded, np.nan, values)
            for values in (
                scale_to_grades(raw[:, None], voting[:, None])[:, 0],
                map_to_grades(low, on_scale),
                map_to_grades(high, on_scale),
            )
        )
    # In equal parts among a group's members, so that the weights of all workers sum to 1.
    weights = voters.weights / np.maximum(size, 1)
    is_ranked = supported & ~excluded & (voters.reason != DISCONNECTED)
    cells = Cells.from_codes(worker, asked_codes, m, len(questions))
    groups = number_connected_groups(cells, ~excluded)
    return PartialCrowdFit(
        workers=worker_labels,
        questions=questions,
        n_answers=np.bincount(worker, minlength=m).astype(np.int64),
        n_workers_of_question=_place_values(
            voters.n_workers_of_question, voted_questions, len(questions), 0
        ),
        supported=supported,
        raw=raw,
        grades=grades,
        weights=np.where(excluded, 0.0, weights[unit]),
        ranks=rank_within_groups(grades, is_ranked, groups),
        groups=groups,
        raw_low=low,
        raw_high=high,
        grade_low=grade_low,
        grade_high=grade_high,
        interval_reasons=merge_values(*reasons).tolist(),
        drawn_raw=drawn_raw,
        history=voters.history.spread_to_members(unit),
        trace=voters.trace,
        converged=voters.converged,
        reason=voters.reason,
        voters=voters,
        units=units,
        asked=voted_questions,
        others=others,
        bystanders=bystanders,
        voting=voting,
        bystander_workers=bystander_workers,
    )


def _place_values(values: NDArray[T], index: Integers, n: int, missing: float) -> NDArray[T]:
    """Return an array of length `n` with `values` at the indices `index`, else `missing`.

    Shape (n, ...).
    """
    filled = np.full((n, *values.shape[1:]), missing, dtype=values.dtype)
    filled[index] = values
    return filled
