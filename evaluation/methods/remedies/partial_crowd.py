"""AQER in which some answers are graded without a vote: excluded workers, collapsed copies."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evaluation.methods.aqer.electorate import EVERYBODY, Electorate
from evaluation.methods.aqer.estimator import AQER, DISCONNECTED, FEWER_THAN_3_WORKERS, LATER
from evaluation.methods.aqer.fixed_point import grades_of
from evaluation.methods.aqer.mean_vote import MeanVote
from evaluation.methods.aqer.model_scores import ModelScores
from evaluation.methods.aqer.resampling import KeptDraws, Progress
from evaluation.methods.aqer.scale import (
    FEWEST_ANSWERERS,
    FEWEST_QUESTIONS,
    Ceiling,
    competition_ranks,
)
from evaluation.methods.aqer.score_intervals import as_grades
from evaluation.methods.aqer.votes import usable
from evaluation.methods.cells import Cells, Floats, Integers, T, codes_of
from evaluation.methods.grams import Vectors
from evaluation.methods.remedies.bystanders import Bystanders
from evaluation.methods.remedies.units import NOBODY, Units

EXCLUDED = "excluded"


class PartialCrowd(AQER):
    """Grade all workers by the exemplary answers of those who vote.

    The voters are graded exactly as if the others had not answered. An excluded worker has a raw
    score against their exemplary answers, weight 0, and neither grade nor rank. A group of copies
    is one unit: its medoid answers vote with `group_vote` times what a single worker of its grade
    has, it is left out as one, and it has no part in the minimum and maximum of the grades; its
    members are scored by their own answers against the exemplary answers of the other units, their
    grades clipped to 0..1.

    Parameters are those of `AQER`, and

    group_vote : the share of a vote that a group has, above 0 and at most 1.

    Attributes are those of `AQER` over all workers and answers, with these differences: `weights_`
    of a group's members are its weight in equal parts, so that all sum to 1; `exemplars`,
    `ceiling_`, the iterations and what models are compared with are those of the voters; `scores_`
    of answers without a vote are those to others' exemplary answers, NaN where there is none;
    `n_workers_of_question_` counts units, 0 where nobody votes. Besides:

    voters_ : the fitted `AQER` of the units. units_ : who votes. excluded_ : (M,) booleans.
    """

    def __init__(self, group_vote: float = 0.25, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.group_vote = group_vote

    def fit(
        self,
        vectors: ArrayLike | Vectors,
        workers: ArrayLike,
        questions: ArrayLike,
        initial_scores: ArrayLike | None = None,
        progress: Progress | None = None,
        kept: KeptDraws | None = None,
        *,
        electorate: Electorate = EVERYBODY,
        camps: ArrayLike | None = None,
        units: Units | None = None,
    ) -> PartialCrowd:
        """Grade the workers of N answers; see `AQER.fit`.

        `units` says who votes, by codes of workers in order of first appearance; `electorate` is
        over the units.
        """
        if not 0 < self.group_vote <= 1:
            raise ValueError(f"group_vote must be above 0 and at most 1, got {self.group_vote}")
        if units is None:
            raise ValueError("units are needed: without them, AQER itself grades everybody")
        for name in LATER:
            self.__dict__.pop(name, None)
        self._check()
        x = usable(vectors, unit_length=self.unit_length)
        worker, self.workers_ = codes_of(workers)
        labels = np.asarray(questions)
        self._all_vectors, self._labels = x, labels
        rows = self._rows = units.rows
        in_camps = None if camps is None else codes_of(camps)[0]
        self.units_, self.excluded_ = units, units.excluded
        self.voters_ = voters = AQER(**self._of_voters())
        voters.fit(
            x[rows],
            units.unit,
            labels[rows],
            None if initial_scores is None else np.asarray(initial_scores)[rows],
            progress,
            kept,
            electorate=units.electorate(self.group_vote, electorate),
            camps=None if in_camps is None else in_camps[rows],
        )
        self._take_over(voters, labels, worker)
        self._add_bystanders(x, in_camps)
        self._rank()
        return self

    def fit_blocks(self, *args: Any, **kwargs: Any) -> AQER:
        """Refuse: bystanders are compared by their vectors, which blocks do not keep."""
        raise ValueError("blocks are for crowds in which everybody votes")

    @property
    def out_of_ranking_(self) -> list[str | None]:
        """(M,) "excluded" for those who are."""
        return [EXCLUDED if out else None for out in self.excluded_.tolist()]

    def exemplars(self) -> Vectors:
        """Return (Q, d) exemplary answers of the voters; NaN where nobody voted.

        Sparse ones are zero there.
        """
        found = self.voters_.exemplars()
        if sparse.issparse(found):
            ones = np.ones(len(self._asked))
            shape = (len(self.questions_), len(self._asked))
            to_questions = sparse.csr_array(
                (ones, (self._asked, np.arange(len(ones)))), shape=shape
            )
            return sparse.csr_array(to_questions @ found)
        return self._of_questions(np.asarray(found), np.nan)

    def score_models(
        self,
        vectors: ArrayLike | Vectors,
        models: ArrayLike,
        questions: ArrayLike,
        kind: ArrayLike | None = None,
    ) -> ModelScores:
        """Score answers of models against the voters' exemplary answers; see `AQER`."""
        x = usable(vectors, unit_length=self.unit_length)
        return self.voters_.score_models(x, models, questions, kind)

    @cached_property
    def scores_(self) -> Floats:
        """(N,) similarity to the exemplary answers that produced raw."""
        return self._merged(self.voters_.scores_, self.voters_._previous)

    @cached_property
    def final_scores_(self) -> Floats:
        """(N,) similarity to the exemplary answers of the final weights."""
        return self._merged(self.voters_.final_scores_, self.voters_._votes[:, None])

    @cached_property
    def leave_one_out_scores_(self) -> Floats:
        """(N,) similarity to the exemplary answers of the others, with the final weights."""
        return self._merged(self.voters_.leave_one_out_scores_, self.voters_._votes[:, None])

    @cached_property
    def nearest_(self) -> Integers:
        """(Q,) row of the voting answer nearest to each exemplary answer, -1 for none."""
        return self._of_questions(self._rows[self.voters_.nearest_], -1)

    @cached_property
    def dispersion_(self) -> Floats:
        """(Q,) 0 where all answers that vote on a question agree; NaN where none does."""
        return self._of_questions(self.voters_.dispersion_, np.nan)

    @cached_property
    def ceiling_(self) -> Ceiling:
        """The human ceiling, over units."""
        return self.voters_.ceiling_

    @property
    def mean_vote_(self) -> MeanVote:
        """The cosines of all answers, those without a vote too."""
        questions = {label: code for code, label in enumerate(self.questions_.tolist())}
        codes = np.array([questions[label] for label in self._labels.tolist()], dtype=np.int64)
        cells = Cells.from_codes(self._worker, codes, len(self.workers_), len(self.questions_))
        return MeanVote.from_vectors(self._all_vectors, cells, self.similarity)

    # The steps of fit, in their order.

    def _of_voters(self) -> dict[str, Any]:
        names = (
            "similarity init aggregation stopping tolerance max_iterations leave_one_out "
            "difficulty discrimination weight_cap n_draws bootstrap_workers seed"
        )
        return {name: getattr(self, name) for name in names.split()}

    def _take_over(self, voters: AQER, labels: Any, worker: Integers) -> None:
        """Write what the voters have, each at its worker's place, and what concerns everybody."""
        m = len(self.workers_)
        _, self.questions_ = codes_of(labels)
        place = {label: code for code, label in enumerate(self.questions_.tolist())}
        asked = [place[label] for label in voters.questions_.tolist()]
        self._asked = np.array(asked, dtype=np.int64)
        of_voters = voters.n_workers_of_question_
        self.n_workers_of_question_ = self._of_questions(of_voters, 0)
        self.history_ = voters.history_.of_members(self.units_.of_worker)
        self.reason_, self.n_iter_ = voters.reason_, voters.n_iter_
        self.trace_, self.converged_ = voters.trace_, voters.converged_
        code_of = {label: code for code, label in enumerate(voters.questions_.tolist())}
        self._question = np.array([code_of.get(q, -1) for q in labels.tolist()], dtype=np.int64)
        self._worker = worker
        self.n_answers_ = np.bincount(worker, minlength=m).astype(np.int64)
        shared = of_voters >= FEWEST_ANSWERERS
        usual = (self._question >= 0) & shared[self._question]
        self.supported_ = np.bincount(worker, usual, m) >= FEWEST_QUESTIONS
        unit = self.units_.of_worker
        size = np.bincount(unit[unit != NOBODY], minlength=self.units_.n_units)
        self._voting = (unit != NOBODY) & (size[unit] == 1)
        self._place = unit[self._voting]
        weights = voters.weights_ / np.maximum(size, 1)
        self.weights_ = np.where(unit == NOBODY, 0.0, weights[unit])
        self._draws, self._drawn_votes = voters._draws, voters._drawn_votes

    def _of_questions(self, values: NDArray[T], missing: float) -> NDArray[T]:
        """Bring values of the voters' questions to their places among all questions."""
        out = np.full((len(self.questions_), *values.shape[1:]), missing, dtype=values.dtype)
        out[self._asked] = values
        return out

    def _add_bystanders(self, x: Vectors, camps: Integers | None) -> None:
        voters, unit = self.voters_, self.units_.of_worker
        others = np.flatnonzero(~self._voting[self._worker])
        who, codes = codes_of(self._worker[others])
        at = codes.astype(np.int64)
        self._others, self._bystanders = (
            others,
            Bystanders(
                voters,
                x,
                self._rows,
                others,
                who,
                self._question[others],
                unit[self._worker[others]],
                camps,
            ),
        )
        found = self._bystanders.scores()
        self.raw_ = self._joined(voters.raw_, found.raw, at)
        self.raw_low_ = self._joined(voters.raw_low_, found.low, at)
        self.raw_high_ = self._joined(voters.raw_high_, found.high, at)
        reasons = np.full(len(self.workers_), None, dtype=object)
        reasons[self._voting] = np.array(voters.interval_reasons_, dtype=object)[self._place]
        reasons[at] = np.array(found.reasons, dtype=object)
        self.interval_reasons_ = reasons.tolist()
        self._drawn_raw = None
        if voters._drawn_raw is not None and found.drawn is not None:
            self._drawn_raw = self._joined(voters._drawn_raw, found.drawn, at)

    def _joined(self, of_units: Floats, of_others: Floats, at: Integers) -> Floats:
        out = np.full((len(self.workers_), *of_units.shape[1:]), np.nan)
        out[self._voting] = of_units[self._place]
        out[at] = of_others
        return out

    def _rank(self) -> None:
        nothing = np.full(len(self.workers_), np.nan)
        if self.reason_ == FEWER_THAN_3_WORKERS:
            self.grades_ = self.grade_low_ = self.grade_high_ = nothing
            self.ranks_ = np.zeros(len(nothing), dtype=np.int64)
            return
        on_scale = np.where(self._voting, self.raw_, np.nan)
        grades = grades_of(self.raw_[:, None], self._voting[:, None])[:, 0]
        self.grades_ = np.where(self.excluded_, np.nan, grades)
        low, high = as_grades(self.raw_low_, on_scale), as_grades(self.raw_high_, on_scale)
        self.grade_low_ = np.where(self.excluded_, np.nan, low)
        self.grade_high_ = np.where(self.excluded_, np.nan, high)
        among = self.supported_ & ~self.excluded_ & (self.reason_ != DISCONNECTED)
        self.ranks_ = competition_ranks(self.grades_, among)

    def _merged(self, of_voters: Floats, votes: Floats) -> Floats:
        out = np.full(len(self._worker), np.nan)
        out[self._rows] = of_voters
        # The medoids' rows are among these: as a member's answer each is compared with the others.
        out[self._others] = self._bystanders.similarity(votes)[:, 0]
        return out
