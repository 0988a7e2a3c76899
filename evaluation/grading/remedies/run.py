"""Grading with remedies: who votes, who is one voter, which camp an expert takes for right.

`grade_with_remedies` tells the whole flow. The arithmetic is in
`evaluation.grading.remedies.methods`; here the choices are made that need the texts, and what was
done is put down for people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.consensus import AQER
from evaluation.consensus.methods.electorate import EVERYBODY, Electorate, RemedyError
from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.consensus.methods.resampling import KeptDraws, Progress
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.alarms.methods import Group, Pairs
from evaluation.grading.alarms.run.copied_texts import are_copies
from evaluation.grading.crowd import OutsideInformation
from evaluation.grading.remedies.methods.anchors import Choice, choose, suggest
from evaluation.grading.remedies.methods.candidates import Candidates, candidates
from evaluation.grading.remedies.methods.copies import NamedGroup, named_groups
from evaluation.grading.remedies.methods.partial_crowd import fit_part
from evaluation.grading.remedies.methods.question_camps import CampedQuestion, camps_of_answers
from evaluation.grading.remedies.methods.sources import source_of
from evaluation.grading.remedies.methods.units import Units, units_of
from evaluation.methods.cells import Cells, Floats, Integers, codes_of
from evaluation.methods.grams import Vectors
from evaluation.methods.statistics.correlation import spearman


def same(identifier: Any) -> Any:
    """Return the id as it is."""
    return identifier


@dataclass(frozen=True)
class RemedyReport:
    """What the remedies did; ids are those of the caller.

    Attributes
    ----------
    names : the remedies that were asked for.
    excluded : how many workers do not vote. groups : the groups of copies that were asked for,
        by default all; left : how many were not.
    candidates, choice : rankings the crowd may be graded by, and the anchors' choice among them;
        None where anchors were neither given nor asked for.
    suggested : rows whose answers an expert should grade.
    questions : questions whose answers fall in camps. spelling : what was corrected.
    """

    names: tuple[str, ...]
    workers: NDArray[np.generic]
    excluded: int = 0
    groups: list[NamedGroup] = field(default_factory=list)
    left: int = 0
    candidates: Candidates | None = None
    choice: Choice | None = None
    n_anchors: int = 0
    suggested: Integers | None = None
    questions: list[CampedQuestion] | None = None
    spelling: dict[str, Any] | None = None

    def as_dict(
        self,
        name_of: Callable[[Any], Any] = same,
        name_of_question: Callable[[Any], Any] = same,
    ) -> dict[str, Any]:
        """Return plain values, ready for JSON, with the names of workers and of questions."""
        out: dict[str, Any] = {"asked_for": list(self.names), "excluded_workers": self.excluded}
        if "collapse_copies" in self.names:
            out["groups"] = [self._of_group(group, name_of) for group in self.groups]
            if self.left:
                out["groups_not_asked_for"] = self.left
        if self.candidates is not None:
            out["candidates"] = self._of_candidates()
        if self.choice is not None and self.candidates is not None:
            out["anchors"] = {
                "graded": self.n_anchors,
                "chosen": self.candidates.found[self.choice.place].name,
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

    def names_of(self, group: NamedGroup) -> list[Any]:
        """Return the ids of a group's members."""
        return list(self.workers[group.members].tolist())

    def _of_group(self, group: NamedGroup, name_of: Callable[[Any], Any]) -> dict[str, Any]:
        found = {
            "workers": [name_of(worker) for worker in self.names_of(group)],
            "kappa": group.statistic,
            "mean_cosine": group.mean_cosine,
            "collapsed": group.is_collapsed,
            "verdict": group.verdict,
        }
        if group.source is None:
            return found
        return found | {
            "first": name_of(self.workers[group.source.worker].item()),
            "n_first": group.source.n_first,
            "n_timed": group.source.n_timed,
        }

    def _of_candidates(self) -> dict[str, Any]:
        assert self.candidates is not None
        alarm, found = self.candidates.alarm, self.candidates.found
        correlations = self.choice.correlations if self.choice else (None,) * len(found)
        return {
            "two_camps": {
                "statistic": alarm.statistic,
                "threshold": alarm.threshold,
                "rings": alarm.rings,
                "reason": alarm.reason,
            },
            "camps": [len(members) for members in self.candidates.camps],
            "found": [
                {
                    "name": candidate.name,
                    "correlation_with_expert": correlation,
                    "spearman_with_default": spearman(candidate.aqer.raw_, found[0].aqer.raw_),
                }
                for candidate, correlation in zip(found, correlations, strict=True)
            ],
            "same_as": self.candidates.same,
            "reason": self.candidates.reason,
        }


@dataclass(frozen=True)
class Remedied:
    """A grading with remedies, the plain one (without draws), and what was done."""

    aqer: AQER
    plain: AQER
    report: RemedyReport


def grade_with_remedies(
    parameters: AqerParameters,
    vectors: Vectors,
    workers: ArrayLike,
    questions: ArrayLike,
    outside: OutsideInformation,
    initial_scores: Floats | None = None,
    progress: Progress | None = None,
    kept: KeptDraws | None = None,
) -> Remedied:
    """Grade the workers of N answers. Raises `RemedyError` where a remedy has no meaning here."""
    flow = _Flow(parameters, vectors, np.asarray(workers), np.asarray(questions), outside)
    plain = flow.plain(initial_scores)
    excluded = flow.excluded()
    named = flow.groups(excluded)
    groups = [group for group in named if group.is_asked_for]
    units = flow.units(excluded, [group for group in groups if group.is_collapsed])
    report = RemedyReport(
        parameters.remedies,
        flow.names,
        len(excluded),
        groups,
        len(named) - len(groups),
        spelling=outside.spelling,
    )
    camps = None
    electorate = EVERYBODY
    if parameters.camps:
        camps, of_questions = flow.camps(units)
        report = replace(report, questions=of_questions)
    if parameters.anchors or parameters.suggest_anchors:
        found = flow.candidates(units, initial_scores)
        report = replace(report, candidates=found)
        if parameters.anchors:
            choice = flow.choice(found)
            electorate = found.found[choice.place].electorate
            report = replace(report, choice=choice, n_anchors=len(outside.anchor_rows))
        if parameters.suggest_anchors:
            report = replace(report, suggested=flow.suggested(found))
    aqer = flow.fit(units, electorate, initial_scores, camps, progress, kept)
    return Remedied(aqer, plain, report)


@dataclass
class _Flow:
    """The steps of `grade_with_remedies`, on one crowd."""

    parameters: AqerParameters
    vectors: Vectors
    workers: NDArray[np.generic]
    questions: NDArray[np.generic]
    outside: OutsideInformation

    def __post_init__(self) -> None:
        self.worker, self.names = codes_of(self.workers)
        self.question, self.asked = codes_of(self.questions)

    def plain(self, initial_scores: Floats | None) -> AQER:
        """Grade without any remedy, for the comparison; draws would not be looked at."""
        estimator = replace(self.parameters.without_remedies(), bootstrap=0).estimator()
        vectors = self.outside.plain_vectors
        return estimator.fit(
            self.vectors if vectors is None else vectors,
            self.workers,
            self.questions,
            initial_scores,
        )

    def excluded(self) -> Integers:
        """Return the codes of the workers who do not vote."""
        code_of = {name: code for code, name in enumerate(self.names.tolist())}
        found = {code_of[name] for name in self.outside.excluded if name in code_of}
        if len(found) == len(self.names):
            raise RemedyError("nobody_left")
        return np.array(sorted(found), dtype=np.int64)

    def groups(self, excluded: Integers) -> list[NamedGroup]:
        """Return the named groups of copies among those who vote; none unless asked for."""
        if not self.parameters.collapse_copies:
            return []
        votes = np.ones(len(self.names), dtype=bool)
        votes[excluded] = False
        pairs = self._pairs(np.arange(len(self.worker)), self.worker, len(self.names))
        wanted = None
        if self.parameters.collapse_workers:
            asked = set(self.outside.collapsed)
            wanted = np.flatnonzero([name in asked for name in self.names.tolist()])
        found = named_groups(
            pairs.only_workers(votes), self._is_copied, self.parameters.seed, wanted
        )
        times = np.asarray(self.outside.times, dtype=float)
        return [
            replace(group, source=source_of(group.members, self.worker, self.question, times))
            for group in found
        ]

    def units(self, excluded: Integers, groups: list[NamedGroup]) -> Units | None:
        """Return who votes; None where everybody does."""
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

    def camps(self, units: Units | None) -> tuple[Integers, list[CampedQuestion]]:
        """Return the camp of every answer within its question, and which questions have camps."""
        rows, unit = self._voting(units)
        vote, asked = self._vote(rows, unit)
        of_rows, found = camps_of_answers(vote, self.vectors[rows], self.parameters.seed)
        camps = np.zeros(len(self.worker), dtype=np.int64)
        camps[rows] = of_rows
        labels = self.asked[asked].tolist()
        return camps, [replace(camped, question=labels[camped.question]) for camped in found]

    def candidates(self, units: Units | None, initial_scores: Floats | None) -> Candidates:
        """Return the rankings that the crowd may be graded by."""
        rows, unit = self._voting(units)
        pairs = self._pairs(rows, unit, int(unit.max()) + 1)

        def fit(electorate: Electorate) -> AQER:
            return self.fit(units, electorate, initial_scores, draws=0)

        return candidates(pairs, fit, self.parameters.seed, self.parameters.weight_cap)

    def choice(self, found: Candidates) -> Choice:
        """Let the expert's grades choose among the candidates."""
        rows = np.asarray(self.outside.anchor_rows, dtype=np.int64)
        scores = [candidate.aqer.leave_one_out_scores_[rows] for candidate in found.found]
        chosen = choose(scores, np.asarray(self.outside.anchor_grades, dtype=float))
        return chosen if found.reason is None else replace(chosen, place=0, reason=found.reason)

    def suggested(self, found: Candidates) -> Integers:
        """Return the rows whose answers tell the candidates apart."""
        if found.reason is not None:
            return np.empty(0, dtype=np.int64)
        return suggest(found.found, self.vectors, self.parameters.suggest_anchors)

    def fit(
        self,
        units: Units | None,
        electorate: Electorate,
        initial_scores: Floats | None,
        camps: Integers | None = None,
        progress: Progress | None = None,
        kept: KeptDraws | None = None,
        draws: int | None = None,
    ) -> AQER:
        """Grade by an electorate over the units."""
        values = self.parameters.of_estimator()
        if draws is not None:
            values["n_draws"] = draws
        common = (self.vectors, self.workers, self.questions, initial_scores, progress, kept)
        aqer = AQER(**values)
        if units is None:
            return aqer.fit(*common, electorate=electorate, camps=camps)
        share = self.parameters.group_vote
        return fit_part(
            aqer, *common, units=units, group_vote=share, electorate=electorate, camps=camps
        )

    def _voting(self, units: Units | None) -> tuple[Integers, Integers]:
        if units is None:
            return np.arange(len(self.worker)), self.worker
        return units.rows, units.unit

    def _vote(self, rows: Integers, unit: Integers) -> tuple[MeanVote, Integers]:
        """Return the cosines among some rows, and the question codes behind the vote's own."""
        local, asked = codes_of(self.question[rows])
        cells = Cells.from_codes(unit, local, int(unit.max()) + 1, len(asked))
        return MeanVote.from_vectors(self.vectors[rows], cells, "cosine"), asked.astype(np.int64)

    def _pairs(self, rows: Integers, unit: Integers, n_units: int) -> Pairs:
        return Pairs.of(self._vote(rows, unit)[0], self.parameters.seed)

    def _is_copied(self, group: Group) -> bool:
        """Whether the texts of a group prove that they were copied."""
        texts = self.outside.texts
        if not len(texts):
            return False
        return are_copies(group, texts, self.worker, self.question, self.parameters.seed)
