"""Determine the outcome of each alarm after a remedy: answered, unchanged, or new.

A run with remedies detects alarms three times: among all workers, graded plainly; among those who
are not excluded, graded plainly (these alarms are the run's own: a remedy does not correct the
crowd itself); and among those who vote now, as they vote. An alarm that the third pass does not
repeat, or that a remedy settles by its kind, is answered: it keeps its row, and no longer speaks
against the grades.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.consensus import AQER
from evaluation.consensus.methods.scale import Electorate
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.alarms.methods import sort_findings
from evaluation.grading.alarms.run.detection import (
    Alarm,
    Alarms,
    GradedAnswers,
    detect_alarms,
    restore_plain_vectors,
    select_rows,
)
from evaluation.grading.crowd import RemedyInputs, build_labels
from evaluation.grading.remedies.methods.partial_crowd import PartialCrowdFit
from evaluation.grading.remedies.run import RemedyReport
from evaluation.grading.run.fitting import GradedWithRemedies
from evaluation.grading.summary import Camp, CheckResult

# Two alarms are about the same people if they share this part of the smaller group.
SAME = 0.5
# Camps of single questions are those of the crowd where so many of the answers fall alike.
SAME_CAMPS = 0.8
# Of the crowd as a whole, whoever happens to be named.
OF_CROWD = frozenset({"concentrated_weight", "too_few", "unstable_ranking", "no_convergence"})
# A plain run has no draws, so that nobody can say whether this is new.
ONLY_AFTER = "unstable_ranking"


@dataclass(frozen=True)
class DetectionInputs:
    """Inputs that are needed to detect the alarms again after remedies."""

    parameters: AqerParameters
    graded: GradedWithRemedies
    answers: GradedAnswers
    outside: RemedyInputs
    model_names: Mapping[Any, str]

    def detect_in_all_workers(self) -> Alarms:
        """Return the alarms among all workers, in the grading without remedies."""
        assert self.graded.plain is not None
        return self._detect_alarms(
            self.graded.plain, restore_plain_vectors(self.answers, self.outside)
        )

    def detect_in_voters(self) -> Alarms:
        """Return the alarms among the workers who vote after the remedies."""
        fitted, aqer = self.graded.aqer.fitted_, self.graded.aqer
        # A shallow copy, so that the run's own estimator keeps its fit of all workers.
        voters = copy.copy(aqer)
        voters.fitted_ = fitted.crowd
        if not isinstance(fitted, PartialCrowdFit):
            return self._detect_alarms(voters, self.answers)
        units = fitted.units
        labels = voters.workers_.tolist()
        voting_answers = select_rows(self.answers, units.rows)
        voting_answers = replace(
            voting_answers, workers=[labels[unit] for unit in units.unit.tolist()]
        )
        members: dict[Any, list[Any]] = {}
        for worker, unit in zip(aqer.workers_.tolist(), units.of_worker.tolist(), strict=True):
            if unit >= 0:
                members.setdefault(labels[unit], []).append(worker)
        alarms = self._detect_alarms(voters, voting_answers)
        with_members = (
            replace(alarm, workers=tuple(one for unit in alarm.workers for one in members[unit]))
            for alarm in alarms.found
        )
        return replace(alarms, found=tuple(with_members))

    def _detect_alarms(self, aqer: AQER, answers: GradedAnswers) -> Alarms:
        """Return the alarms of a fitted grading of these answers."""
        return detect_alarms(self.parameters, aqer, answers, None, self.model_names)


def add_outcomes(
    base: Alarms, inputs: DetectionInputs, crowd: AQER, answers: GradedAnswers
) -> Alarms:
    """Return a run's alarms, each with its outcome after remedies: settled, open or new.

    `base` are the alarms of `crowd`: the `answers`, graded plainly, without the excluded workers.
    """
    assert inputs.graded.remedies is not None
    excluded = frozenset(inputs.outside.excluded)
    # Without exclusions both crowds are one, and the search is not repeated.
    before = inputs.detect_in_all_workers().found if excluded else base.found
    camps = _compare_with_camps(base.found, crowd, answers, inputs.graded.aqer)
    judge = _OutcomeJudge(inputs.graded.remedies, excluded, base, inputs.detect_in_voters(), camps)
    current, gone = judge.build_alarms(before), judge.build_vanished_alarms(before)
    return replace(base, found=current, gone=gone, camps_now=camps)


def _compare_with_camps(
    alarms: Sequence[Alarm], crowd: AQER, answers: GradedAnswers, now: AQER
) -> tuple[Camp, ...]:
    """Return the two camps of workers, with the agreement of the final ranking with each."""
    camps = [alarm.workers for alarm in alarms if alarm.kind == "two_camps" and alarm.workers]
    raw = dict(zip(now.workers_.tolist(), now.raw_.tolist(), strict=True))
    run_raw = np.array([raw[worker] for worker in crowd.workers_.tolist()])
    agreements = [spearman(run_raw, _grade_by_camp(crowd, answers, set(camp))) for camp in camps]
    known_agreements = [value for value in agreements if value is not None]
    highest = max(known_agreements, default=None)
    # With two equal correlations the ranking follows neither camp.
    is_clear = highest is not None and known_agreements.count(highest) == 1
    return tuple(
        Camp(camp, value, is_clear and value == highest)
        for camp, value in zip(camps, agreements, strict=True)
    )


def _grade_by_camp(crowd: AQER, answers: GradedAnswers, camp: set[Any]) -> Floats:
    """Return each worker's raw score (M,) if only the workers of one camp voted."""
    inside = np.array([float(worker in camp) for worker in crowd.workers_.tolist()])
    alone = AQER(
        similarity=crowd.similarity, leave_one_out=crowd.leave_one_out, seed=crowd.seed, n_draws=0
    )
    return alone.fit(
        answers.vectors,
        build_labels(answers.workers),
        build_labels(answers.questions),
        electorate=Electorate(factor=inside, start=inside / inside.sum()),
    ).raw_


@dataclass(frozen=True)
class _OutcomeJudge:
    """Finds the outcome of each alarm, from the alarms before and after the remedies."""

    report: RemedyReport
    excluded: frozenset[Any]
    base: Alarms
    after: Alarms
    camps: tuple[Camp, ...]

    def build_alarms(self, before: Sequence[Alarm]) -> tuple[Alarm, ...]:
        """Return the run's alarms with their outcomes, followed by the new alarms."""
        with_outcomes, repeated = [], set()
        for alarm in self.base.found:
            with_outcomes.append(self._add_outcome(alarm, before))
            if not with_outcomes[-1].is_answered:
                repeated |= {
                    place for place, one in enumerate(self.after.found) if is_same_alarm(alarm, one)
                }
        for place, alarm in enumerate(self.after.found):
            if place in repeated or self._is_already_settled(alarm):
                continue
            is_new = alarm.kind != ONLY_AFTER
            with_outcomes.append(
                _set_outcome_message(alarm, "new", len(alarm.workers)) if is_new else alarm
            )
        return tuple(sort_findings(with_outcomes))  # type: ignore[arg-type]

    def build_vanished_alarms(self, before: Sequence[Alarm]) -> tuple[Alarm, ...]:
        """Return the alarms that vanished when workers were excluded, with their outcomes."""
        gone_alarms = []
        for alarm in before:
            if any(is_same_alarm(alarm, one) for one in self.base.found):
                continue
            left_out = len(self.excluded.intersection(alarm.workers))
            if left_out and left_out == len(alarm.workers):
                gone_alarms.append(_set_outcome_message(alarm, "excluded", left_out))
            elif left_out:
                gone_alarms.append(
                    _set_outcome_message(
                        alarm, "some_excluded", len(alarm.workers), excluded=left_out
                    )
                )
            else:
                gone_alarms.append(
                    _set_outcome_message(alarm, "silent_without", len(alarm.workers))
                )
        return tuple(gone_alarms)

    def _add_outcome(self, alarm: Alarm, before: Sequence[Alarm]) -> Alarm:
        """Return an alarm with its outcome; alarms of severity `info` get none."""
        code = self._find_remedy_outcome(alarm)
        n = len(alarm.workers)
        if code is not None:
            return _set_outcome_message(
                alarm, code, n, graded=self.report.n_anchors, **self._describe_camps(alarm)
            )
        if alarm.severity == "info":  # it asks for nothing, so that nothing became of it
            return alarm
        twin = next((one for one in self.after.found if is_same_alarm(alarm, one)), None)
        if twin is not None:
            if not any(is_same_alarm(alarm, one) for one in before):
                return _set_outcome_message(alarm, "new", n)
            camps = self._describe_camps(alarm)
            code = "still_camp" if camps else "still"
            return _set_outcome_message(alarm, code, n, **camps)
        if (why := self._find_unchecked_reason(alarm)) is not None:
            return _set_outcome_message(alarm, "unchecked", n, reason=why)
        return _set_outcome_message(alarm, "silent", n)

    def _find_remedy_outcome(self, alarm: Alarm) -> str | None:
        """Return the outcome code of the remedy that settles an alarm; None if none does."""
        named = set(alarm.workers)
        if alarm.kind in ("copies", "clique") and named:
            for group in self.report.groups:
                if group.is_collapsed and named <= set(self.report.list_members(group)):
                    return "collapsed" if group.source is None else "collapsed_first"
        choice = self.report.choice
        if choice is not None and choice.reason is None:
            if alarm.kind == "clique" or (alarm.kind == "two_camps" and named):
                return self._find_camp_outcome(alarm)
            if _is_split_of_crowd(alarm, self.base.found):
                return "settled_questions"
        if alarm.kind == "two_camps" and not named and self.report.questions:
            return "nearest_camp"
        return None

    def _find_camp_outcome(self, alarm: Alarm) -> str:
        """Return the outcome code, after experts' grades, of an alarm that names a camp.

        "settled_won" if the final ranking follows the camp that the alarm names, "settled_lost" if
        it follows the other, "settled" if it follows none or the alarm names no camp.
        """
        side = self._find_camp(alarm)
        if side is None or not any(camp.follows for camp in self.camps):
            return "settled"
        return "settled_won" if side.follows else "settled_lost"

    def _find_camp(self, alarm: Alarm) -> Camp | None:
        """Return the camp with most of the workers that an alarm names; None without one."""
        named = set(alarm.workers)
        matching_camps = [
            camp for camp in self.camps if 2 * len(named & set(camp.workers)) > len(named)
        ]
        return matching_camps[0] if matching_camps else None

    def _describe_camps(self, alarm: Alarm) -> dict[str, Any]:
        """Return how the ranking agrees with an alarm's camp and the other, as message values."""
        own_camp = self._find_camp(alarm) if alarm.kind in ("two_camps", "clique") else None
        if own_camp is None:
            return {}
        other_agreements = [camp.agreement for camp in self.camps if camp is not own_camp]
        return {
            "agreement": own_camp.agreement,
            "other_agreement": other_agreements[0] if other_agreements else None,
            "follows": own_camp.follows,
        }

    def _find_unchecked_reason(self, alarm: Alarm) -> str | None:
        """Return the code of why an alarm cannot be checked after the remedy; None if it can."""
        name = alarm.kind
        if alarm.kind == "two_camps" and not alarm.workers:
            name = "two_camps_of_questions"
        elif alarm.kind == "clique":
            name = "copies"
        check = _find_check_by_name(self.after.checks, name)
        return check.reason if check is not None and check.statistic is None else None

    def _is_already_settled(self, alarm: Alarm) -> bool:
        """Return whether a remedy already settles an alarm that is raised among the voters."""
        answered = self._find_remedy_outcome(alarm)
        return answered is not None and any(is_same_alarm(alarm, one) for one in self.base.found)


def is_same_alarm(alarm: Alarm, other: Alarm) -> bool:
    """Return whether two alarms match: same kind and severity, mostly the same workers."""
    if alarm.kind != other.kind or alarm.severity != other.severity:
        return False
    if bool(alarm.workers) != bool(other.workers):
        return False
    if alarm.message.values.get("model") != other.message.values.get("model"):
        return False
    if alarm.kind in OF_CROWD or not alarm.workers:
        return True
    mine, theirs = set(alarm.workers), set(other.workers)
    return len(mine & theirs) >= SAME * min(len(mine), len(theirs))


def _set_outcome_message(alarm: Alarm, code: str, workers: int, **values: Any) -> Alarm:
    """Return the alarm with the message `outcome.<code>` and these values as its outcome."""
    return replace(alarm, outcome=Message(f"outcome.{code}", {"workers": workers, **values}))


def _find_check_by_name(checks: Iterable[CheckResult], name: str) -> CheckResult | None:
    """Return the check with this name; None if there is none."""
    return next((check for check in checks if check.check == name), None)


def _is_split_of_crowd(alarm: Alarm, alarms: Sequence[Alarm]) -> bool:
    """Return whether an alarm on single questions only repeats the alarm on two camps."""
    if alarm.kind != "two_camps" or alarm.workers:
        return False
    same = alarm.message.values.get("same_as_crowd")
    is_raised = any(alarm.kind == "two_camps" and alarm.workers for alarm in alarms)
    return is_raised and same is not None and same >= SAME_CAMPS
