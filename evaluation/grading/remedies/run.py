"""Grade with remedies: decide which answers vote, which groups are copies, which camp counts.

`grade_with_remedies` calls all steps. `evaluation.grading.remedies.methods` has the computations;
this module makes the choices that need texts, and records what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.consensus import AQER
from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.methods.resampling import DrawStore, Progress
from evaluation.consensus.methods.scale import EVERYBODY, Electorate, RemedyError
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.cells import Cells, Floats, Integers, encode_labels
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.alarms.methods import CopierGroup, Pairs
from evaluation.grading.alarms.run.texts import is_copied_group
from evaluation.grading.crowd import RemedyInputs
from evaluation.grading.remedies.methods.camps import (
    CandidateRankings,
    QuestionWithCamps,
    RankingChoice,
    choose_candidate,
    find_candidates,
    label_camps,
    suggest_anchors,
)
from evaluation.grading.remedies.methods.copies import (
    JudgedGroup,
    VotingUnits,
    find_copy_source,
    judge_copier_groups,
)
from evaluation.grading.remedies.methods.copies import build_units as units_of
from evaluation.grading.remedies.methods.partial_crowd import fit_partial_crowd


def return_id_unchanged(identifier: Any) -> Any:
    """Return the id as it is; the default for `name_of`, which converts ids for a report."""
    return identifier


@dataclass(frozen=True)
class RemedyReport:
    """Effects of a run's remedies, with the ids of workers and questions.

    Attributes
    ----------
    names : the remedies that were requested.
    excluded : number of workers who do not vote. groups : groups of copies that the caller wants
        collapsed, by default all; left : number of other groups.
    candidates, choice : candidate rankings of the crowd, and the one that the anchors select; None
        if anchors were neither given nor requested.
    suggested : rows of answers that an expert should grade.
    questions : questions whose answers form camps. spelling : report of spelling corrections.
    """

    names: tuple[str, ...]
    workers: NDArray[np.generic]
    excluded: int = 0
    groups: list[JudgedGroup] = field(default_factory=list)
    left: int = 0
    candidates: CandidateRankings | None = None
    choice: RankingChoice | None = None
    n_anchors: int = 0
    suggested: Integers | None = None
    questions: list[QuestionWithCamps] | None = None
    spelling: dict[str, Any] | None = None

    def as_dict(
        self,
        name_of: Callable[[Any], Any] = return_id_unchanged,
        name_of_question: Callable[[Any], Any] = return_id_unchanged,
    ) -> dict[str, Any]:
        """Return the effects as plain values for JSON, with ids converted by the two functions.

        `name_of` converts worker ids, `name_of_question` question ids.
        """
        out: dict[str, Any] = {"asked_for": list(self.names), "excluded_workers": self.excluded}
        if "collapse_copies" in self.names:
            out["groups"] = [self._build_group(group, name_of) for group in self.groups]
            if self.left:
                out["groups_not_asked_for"] = self.left
        if self.candidates is not None:
            out["candidates"] = self._build_candidates()
        if self.choice is not None and self.candidates is not None:
            out["anchors"] = {
                "graded": self.n_anchors,
                "chosen": self.candidates.rankings[self.choice.place].name,
                "reason": self.choice.reason,
            }
        if self.suggested is not None:
            assert self.candidates is not None
            out["suggested_anchors"] = {
                "count": len(self.suggested),
                "reason": None if len(self.suggested) else self.candidates.reason,
            }
        if self.questions is not None:
            out["questions_with_camps"] = [
                {
                    "question": name_of_question(question.question),
                    "separation": question.separation,
                    "answers": list(question.sizes),
                }
                for question in self.questions
            ]
        if self.spelling is not None:
            out["spelling"] = self.spelling
        return out

    def list_members(self, group: JudgedGroup) -> list[Any]:
        """Return the ids of a group's workers."""
        return list(self.workers[group.members].tolist())

    def _build_group(self, group: JudgedGroup, name_of: Callable[[Any], Any]) -> dict[str, Any]:
        """Return a group of copiers as a dictionary for JSON."""
        values = {
            "workers": [name_of(worker) for worker in self.list_members(group)],
            "kappa": group.statistic,
            "mean_cosine": group.mean_cosine,
            "collapsed": group.is_collapsed,
            "verdict": group.verdict,
        }
        if group.source is None:
            return values
        return values | {
            "first": name_of(self.workers[group.source.worker].item()),
            "n_first": group.source.n_first,
            "n_timed": group.source.n_timed,
        }

    def _build_candidates(self) -> dict[str, Any]:
        """Return the candidate rankings and their correlations as a dictionary for JSON."""
        assert self.candidates is not None
        alarm, rankings = self.candidates.alarm, self.candidates.rankings
        correlations = self.choice.correlations if self.choice else (None,) * len(rankings)
        return {
            "two_camps": {
                "statistic": alarm.statistic,
                "threshold": alarm.threshold,
                "rings": alarm.is_raised,
                "reason": alarm.reason,
            },
            "camps": [len(members) for members in self.candidates.camps],
            "found": [
                {
                    "name": candidate.name,
                    "correlation_with_expert": correlation,
                    "spearman_with_default": spearman(candidate.aqer.raw_, rankings[0].aqer.raw_),
                }
                for candidate, correlation in zip(rankings, correlations, strict=True)
            ],
            "same_as": self.candidates.same,
            "reason": self.candidates.reason,
        }


@dataclass(frozen=True)
class RemediedGrading:
    """A grading with remedies, the grading without them, and the effects of the remedies."""

    aqer: AQER
    plain: AQER
    report: RemedyReport


def grade_with_remedies(
    parameters: AqerParameters,
    vectors: Vectors,
    workers: ArrayLike,
    questions: ArrayLike,
    outside: RemedyInputs,
    initial_scores: Floats | None = None,
    progress: Progress | None = None,
    draw_store: DrawStore | None = None,
    question_groups: Sequence[str] | None = None,
) -> RemediedGrading:
    """Return the grading with remedies; raise `RemedyError` if a remedy is impossible."""
    columns = (np.asarray(workers), np.asarray(questions))
    steps = _RemedySteps(parameters, vectors, *columns, outside, question_groups)
    plain = steps.grade_without_remedies(initial_scores)
    excluded = steps.find_excluded()
    named = steps.find_groups(excluded)
    groups = [group for group in named if group.is_requested]
    units = steps.build_units(excluded, [group for group in groups if group.is_collapsed])
    report = RemedyReport(
        parameters.remedies,
        steps.names,
        len(excluded),
        groups,
        len(named) - len(groups),
        spelling=outside.spelling,
    )
    camps = None
    electorate = EVERYBODY
    if parameters.camps:
        camps, of_questions = steps.label_camps(units)
        report = replace(report, questions=of_questions)
    if parameters.anchors or parameters.suggest_anchors:
        candidates = steps.find_candidates(units, initial_scores)
        report = replace(report, candidates=candidates)
        if parameters.anchors:
            choice = steps.choose_candidate(candidates)
            electorate = candidates.rankings[choice.place].electorate
            report = replace(report, choice=choice, n_anchors=len(outside.anchor_rows))
        if parameters.suggest_anchors:
            report = replace(report, suggested=steps.suggest_answers(candidates))
    aqer = steps.fit(units, electorate, initial_scores, camps, progress, draw_store)
    return RemediedGrading(aqer, plain, report)


@dataclass
class _RemedySteps:
    """The steps of `grade_with_remedies` for one crowd of workers, one method each."""

    parameters: AqerParameters
    vectors: Vectors
    workers: NDArray[np.generic]
    questions: NDArray[np.generic]
    outside: RemedyInputs
    question_groups: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self.worker, self.names = encode_labels(self.workers)
        self.question, self.asked = encode_labels(self.questions)

    def grade_without_remedies(self, initial_scores: Floats | None) -> AQER:
        """Return the crowd graded without remedies and bootstrap draws, for comparison."""
        # Draws change no grade and no rank, and only these are compared.
        estimator = replace(self.parameters.reset_remedies(), bootstrap=0).build_estimator()
        vectors = self.outside.plain_vectors
        return estimator.fit(
            self.vectors if vectors is None else vectors,
            self.workers,
            self.questions,
            initial_scores,
            question_groups=self.question_groups,
        )

    def find_excluded(self) -> Integers:
        """Return the codes of the excluded workers; raise `RemedyError` if no others are left."""
        code_of = {name: code for code, name in enumerate(self.names.tolist())}
        excluded_codes = {code_of[name] for name in self.outside.excluded if name in code_of}
        if len(excluded_codes) == len(self.names):
            raise RemedyError("nobody_left")
        return np.array(sorted(excluded_codes), dtype=np.int64)

    def find_groups(self, excluded: Integers) -> list[JudgedGroup]:
        """Return the suspected groups of copiers among the voters; empty if the remedy is off."""
        if not self.parameters.collapse_copies:
            return []
        is_voting = np.ones(len(self.names), dtype=bool)
        is_voting[excluded] = False
        pairs = self._compute_pairs(np.arange(len(self.worker)), self.worker, len(self.names))
        wanted_codes = None
        if self.parameters.collapse_workers:
            wanted_names = set(self.outside.collapsed)
            wanted_codes = np.flatnonzero([name in wanted_names for name in self.names.tolist()])
        named = judge_copier_groups(
            pairs.select_workers(is_voting), self._is_copied, self.parameters.seed, wanted_codes
        )
        times = np.asarray(self.outside.times, dtype=float)
        return [
            replace(
                group, source=find_copy_source(group.members, self.worker, self.question, times)
            )
            for group in named
        ]

    def build_units(self, excluded: Integers, groups: list[JudgedGroup]) -> VotingUnits | None:
        """Return the units of the vote, a group of copiers as one; None if each worker is one."""
        if not len(excluded) and not groups:
            return None
        return units_of(
            self.vectors,
            self.worker,
            self.question,
            len(self.names),
            excluded,
            [group.members for group in groups],
            [None if group.source is None else group.source.worker for group in groups],
            euclidean=self.parameters.similarity == "euclidean",
        )

    def label_camps(self, units: VotingUnits | None) -> tuple[Integers, list[QuestionWithCamps]]:
        """Return each answer's camp on its question, and the questions with two camps."""
        rows, unit = self._get_voting_rows(units)
        vote, questions = self._build_vote(rows, unit)
        of_rows, camped_questions = label_camps(vote, self.vectors[rows], self.parameters.seed)
        camps = np.zeros(len(self.worker), dtype=np.int64)
        camps[rows] = of_rows
        labels = self.asked[questions].tolist()
        return camps, [
            replace(camped, question=labels[camped.question]) for camped in camped_questions
        ]

    def find_candidates(
        self, units: VotingUnits | None, initial_scores: Floats | None
    ) -> CandidateRankings:
        """Return the possible rankings of the crowd, of which experts' grades select one."""
        rows, unit = self._get_voting_rows(units)
        pairs = self._compute_pairs(rows, unit, int(unit.max()) + 1)

        def fit(electorate: Electorate) -> AQER:
            """Return the crowd graded by these voting rules, without bootstrap draws."""
            # Candidates are told apart by their raw scores, which need no draws.
            return self.fit(units, electorate, initial_scores, draws=0)

        return find_candidates(pairs, fit, self.parameters.seed, self.parameters.weight_cap)

    def choose_candidate(self, candidates: CandidateRankings) -> RankingChoice:
        """Return the ranking that the experts' grades select, of the candidates."""
        rows = np.asarray(self.outside.anchor_rows, dtype=np.int64)
        # Leave-one-out: an answer is part of the exemplary answer, and its own share would raise
        # its score in every candidate.
        scores = [candidate.aqer.leave_one_out_scores_[rows] for candidate in candidates.rankings]
        chosen = choose_candidate(scores, np.asarray(self.outside.anchor_grades, dtype=float))
        return (
            chosen
            if candidates.reason is None
            else replace(chosen, place=0, reason=candidates.reason)
        )

    def suggest_answers(self, candidates: CandidateRankings) -> Integers:
        """Return the rows of answers whose grades would separate the possible rankings."""
        if candidates.reason is not None:
            return np.empty(0, dtype=np.int64)
        return suggest_anchors(candidates.rankings, self.vectors, self.parameters.suggest_anchors)

    def fit(
        self,
        units: VotingUnits | None,
        electorate: Electorate,
        initial_scores: Floats | None,
        camps: Integers | None = None,
        progress: Progress | None = None,
        draw_store: DrawStore | None = None,
        draws: int | None = None,
    ) -> AQER:
        """Return `AQER` fitted by these units, voting rules and camps on questions."""
        values = self.parameters.list_estimator_options()
        if draws is not None:
            values["n_draws"] = draws
        common = (self.vectors, self.workers, self.questions, initial_scores, progress, draw_store)
        aqer = AQER(**values)
        if units is None:
            return aqer.fit(
                *common, electorate=electorate, camps=camps, question_groups=self.question_groups
            )
        return fit_partial_crowd(
            aqer,
            *common,
            units=units,
            group_vote=self.parameters.group_vote,
            electorate=electorate,
            camps=camps,
            question_groups=self.question_groups,
        )

    def _get_voting_rows(self, units: VotingUnits | None) -> tuple[Integers, Integers]:
        """Return the rows of answers that vote, and the unit of each."""
        if units is None:
            return np.arange(len(self.worker)), self.worker
        return units.rows, units.unit

    def _build_vote(self, rows: Integers, unit: Integers) -> tuple[MeanVote, Integers]:
        """Return the mean vote by cosine of the answers in `rows`, and its question codes."""
        local, questions = encode_labels(self.question[rows])
        cells = Cells.from_codes(unit, local, int(unit.max()) + 1, len(questions))
        # Cosines whatever the run's similarity is: the tests for camps and copies are defined on
        # them.
        return MeanVote.from_vectors(self.vectors[rows], cells, "cosine"), questions.astype(
            np.int64
        )

    def _compute_pairs(self, rows: Integers, unit: Integers, n_units: int) -> Pairs:
        """Return the cosines of all pairs of answers to the same question, of those in `rows`."""
        return Pairs.from_vote(self._build_vote(rows, unit)[0], self.parameters.seed)

    def _is_copied(self, group: CopierGroup) -> bool:
        """Return whether the texts of a group prove that it copied; False without texts."""
        texts = self.outside.texts
        if not len(texts):
            return False
        return is_copied_group(group, texts, self.worker, self.question, self.parameters.seed)
