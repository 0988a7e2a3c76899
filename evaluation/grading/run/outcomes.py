"""What became of each alarm of a crowd after a remedy: answered, still there, new.

A run with remedies looks three times: at everybody who answered, graded plainly; at those who were
not excluded, graded plainly (these alarms are the run's own: what is wrong with a crowd stays wrong
where a remedy makes the best of it); and at those who vote now, as they vote. An alarm that the
third look does not repeat, or that a remedy takes care of by what it is, is answered: it keeps its
row, and no longer speaks against the grades.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.consensus import AQER
from evaluation.consensus.methods.electorate import Electorate
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.alarms.methods import sort_findings
from evaluation.grading.alarms.run.detection import (
    Alarm,
    Alarms,
    GradedAnswers,
    alarms_of,
    restore_plain_vectors,
    select_rows,
)
from evaluation.grading.crowd import OutsideInformation, labels_of
from evaluation.grading.remedies.methods.partial_crowd import FittedPart
from evaluation.grading.remedies.run import RemedyReport
from evaluation.grading.run.fitting import Graded
from evaluation.grading.summary import Looked
from evaluation.methods.cells import Floats
from evaluation.methods.statistics.correlation import spearman
from evaluation.words.message import Message

# Two alarms are about the same people if they share this part of the smaller group.
SAME = 0.5
# Camps of single questions are those of the crowd where so many of the answers fall alike.
SAME_CAMPS = 0.8
# Of the crowd as a whole, whoever happens to be named.
OF_CROWD = frozenset({"concentrated_weight", "too_few", "unstable_ranking", "no_convergence"})
# A plain run has no draws, so that nobody can say whether this is new.
ONLY_AFTER = "unstable_ranking"


@dataclass(frozen=True)
class CampNow:
    """A camp of the crowd after a remedy.

    Attributes
    ----------
    workers : ids. agreement : Spearman's correlation of the run's raw scores with those of a
        grading in which this camp alone votes; None where one is undefined.
    follows : whether it is the camp that the ranking follows.
    """

    workers: tuple[Any, ...]
    agreement: float | None
    follows: bool


@dataclass(frozen=True)
class Look:
    """A grading with remedies, to be looked at: what it was made from, and what came of it."""

    parameters: AqerParameters
    graded: Graded
    answers: GradedAnswers
    outside: OutsideInformation
    model_names: Mapping[Any, str]

    def at_everybody(self) -> Alarms:
        """Look at all who answered, graded plainly."""
        assert self.graded.plain is not None
        return self._at(self.graded.plain, restore_plain_vectors(self.answers, self.outside))

    def at_voters(self) -> Alarms:
        """Look at those who vote, as they vote; of a group that is one voter all are named."""
        fitted, now = self.graded.aqer.fitted_, self.graded.aqer
        voters = copy.copy(now)
        voters.fitted_ = fitted.crowd
        if not isinstance(fitted, FittedPart):
            return self._at(voters, self.answers)
        units = fitted.units
        labels = voters.workers_.tolist()
        theirs = select_rows(self.answers, units.rows)
        theirs = replace(theirs, workers=[labels[unit] for unit in units.unit.tolist()])
        members: dict[Any, list[Any]] = {}
        for worker, unit in zip(now.workers_.tolist(), units.of_worker.tolist(), strict=True):
            if unit >= 0:
                members.setdefault(labels[unit], []).append(worker)
        found = self._at(voters, theirs)
        named = (
            replace(alarm, workers=tuple(one for unit in alarm.workers for one in members[unit]))
            for alarm in found.found
        )
        return replace(found, found=tuple(named))

    def _at(self, aqer: AQER, answers: GradedAnswers) -> Alarms:
        return alarms_of(self.parameters, aqer, answers, None, self.model_names)


def with_outcomes(base: Alarms, look: Look, crowd: AQER, answers: GradedAnswers) -> Alarms:
    """Return the alarms of a run with remedies, each with what became of it.

    `base` are those of `crowd`, in which the `answers` were graded plainly, without the excluded.
    """
    assert look.graded.remedies is not None
    excluded = frozenset(look.outside.excluded)
    before = look.at_everybody().found if excluded else base.found
    camps = _camps_now(base.found, crowd, answers, look.graded.aqer)
    judge = _Judge(look.graded.remedies, excluded, base, look.at_voters(), camps)
    found, gone = judge.found(before), judge.gone(before)
    return replace(base, found=found, gone=gone, camps_now=camps)


def _camps_now(
    found: Sequence[Alarm], crowd: AQER, answers: GradedAnswers, now: AQER
) -> tuple[CampNow, ...]:
    """Return which camp the ranking follows; () where the crowd does not fall into two."""
    camps = [alarm.workers for alarm in found if alarm.kind == "two_camps" and alarm.workers]
    raw = dict(zip(now.workers_.tolist(), now.raw_.tolist(), strict=True))
    mine = np.array([raw[worker] for worker in crowd.workers_.tolist()])
    agreements = [spearman(mine, _alone(crowd, answers, set(camp))) for camp in camps]
    known = [value for value in agreements if value is not None]
    best = max(known, default=None)
    is_clear = best is not None and known.count(best) == 1
    return tuple(
        CampNow(camp, value, is_clear and value == best)
        for camp, value in zip(camps, agreements, strict=True)
    )


def _alone(crowd: AQER, answers: GradedAnswers, camp: set[Any]) -> Floats:
    """Return the raw scores of everybody where only a camp votes."""
    inside = np.array([float(worker in camp) for worker in crowd.workers_.tolist()])
    alone = AQER(
        similarity=crowd.similarity, leave_one_out=crowd.leave_one_out, seed=crowd.seed, n_draws=0
    )
    return alone.fit(
        answers.vectors,
        labels_of(answers.workers),
        labels_of(answers.questions),
        electorate=Electorate(factor=inside, start=inside / inside.sum()),
    ).raw_


@dataclass(frozen=True)
class _Judge:
    """What remedies did, and what is seen of the crowd without and with them."""

    report: RemedyReport
    excluded: frozenset[Any]
    base: Alarms
    after: Alarms
    camps: tuple[CampNow, ...]

    def found(self, before: Sequence[Alarm]) -> tuple[Alarm, ...]:
        """Return the run's alarms, each with its outcome, and those that came with the remedy."""
        told, repeated = [], set()
        for alarm in self.base.found:
            told.append(self._with_outcome(alarm, before))
            if not told[-1].is_answered:
                repeated |= {at for at, one in enumerate(self.after.found) if is_same(alarm, one)}
        for at, alarm in enumerate(self.after.found):
            if at in repeated or self._is_known(alarm):
                continue
            is_new = alarm.kind != ONLY_AFTER
            told.append(_became(alarm, "new", len(alarm.workers)) if is_new else alarm)
        return tuple(sort_findings(told))  # type: ignore[arg-type]

    def gone(self, before: Sequence[Alarm]) -> tuple[Alarm, ...]:
        """Return the alarms of everybody that those who were not excluded do not have."""
        out = []
        for alarm in before:
            if any(is_same(alarm, one) for one in self.base.found):
                continue
            left_out = len(self.excluded.intersection(alarm.workers))
            if left_out and left_out == len(alarm.workers):
                out.append(_became(alarm, "excluded", left_out))
            elif left_out:
                out.append(_became(alarm, "some_excluded", len(alarm.workers), excluded=left_out))
            else:
                out.append(_became(alarm, "silent_without", len(alarm.workers)))
        return tuple(out)

    def _with_outcome(self, alarm: Alarm, before: Sequence[Alarm]) -> Alarm:
        code = self._answered(alarm)
        n = len(alarm.workers)
        if code is not None:
            return _became(alarm, code, n, graded=self.report.n_anchors, **self._camps_of(alarm))
        if alarm.severity == "info":  # it asks for nothing, so that nothing became of it
            return alarm
        twin = next((one for one in self.after.found if is_same(alarm, one)), None)
        if twin is not None:
            if not any(is_same(alarm, one) for one in before):
                return _became(alarm, "new", n)
            camps = self._camps_of(alarm)
            code = "still_camp" if camps else "still"
            return _became(alarm, code, n, **camps)
        if (why := self._unchecked(alarm)) is not None:
            return _became(alarm, "unchecked", n, reason=why)
        return _became(alarm, "silent", n)

    def _answered(self, alarm: Alarm) -> str | None:
        """Return how a remedy takes care of an alarm by what it is; None if none does."""
        named = set(alarm.workers)
        if alarm.kind in ("copies", "clique") and named:
            for group in self.report.groups:
                if group.is_collapsed and named <= set(self.report.names_of(group)):
                    return "collapsed" if group.source is None else "collapsed_first"
        choice = self.report.choice
        if choice is not None and choice.reason is None:
            if alarm.kind == "clique" or (alarm.kind == "two_camps" and named):
                return self._settled(alarm)
            if _are_camps_of_crowd(alarm, self.base.found):
                return "settled_questions"
        if alarm.kind == "two_camps" and not named and self.report.questions:
            return "nearest_camp"
        return None

    def _settled(self, alarm: Alarm) -> str:
        """Return which side of the camps an alarm is on, that the experts settled."""
        side = self._camp_of(alarm)
        if side is None or not any(camp.follows for camp in self.camps):
            return "settled"
        return "settled_won" if side.follows else "settled_lost"

    def _camp_of(self, alarm: Alarm) -> CampNow | None:
        named = set(alarm.workers)
        near = [camp for camp in self.camps if 2 * len(named & set(camp.workers)) > len(named)]
        return near[0] if near else None

    def _camps_of(self, alarm: Alarm) -> dict[str, Any]:
        """Return how the ranking agrees with a camp and with the other one; {} for no camp."""
        mine = self._camp_of(alarm) if alarm.kind in ("two_camps", "clique") else None
        if mine is None:
            return {}
        others = [camp.agreement for camp in self.camps if camp is not mine]
        return {
            "agreement": mine.agreement,
            "other_agreement": others[0] if others else None,
            "follows": mine.follows,
        }

    def _unchecked(self, alarm: Alarm) -> str | None:
        """Return why nobody can look again; None where somebody did."""
        name = alarm.kind
        if alarm.kind == "two_camps" and not alarm.workers:
            name = "two_camps_of_questions"
        elif alarm.kind == "clique":
            name = "copies"
        check = _check(self.after.checks, name)
        return check.reason if check is not None and check.statistic is None else None

    def _is_known(self, alarm: Alarm) -> bool:
        """Whether what is seen among the voters is what a remedy has taken care of already."""
        answered = self._answered(alarm)
        return answered is not None and any(is_same(alarm, one) for one in self.base.found)


def is_same(one: Alarm, other: Alarm) -> bool:
    """Whether two alarms tell the same: of one kind and case, about the same people."""
    if one.kind != other.kind or one.severity != other.severity:
        return False
    if bool(one.workers) != bool(other.workers):
        return False
    if one.message.values.get("model") != other.message.values.get("model"):
        return False
    if one.kind in OF_CROWD or not one.workers:
        return True
    mine, theirs = set(one.workers), set(other.workers)
    return len(mine & theirs) >= SAME * min(len(mine), len(theirs))


def _became(alarm: Alarm, code: str, workers: int, **values: Any) -> Alarm:
    return replace(alarm, outcome=Message(f"outcome.{code}", {"workers": workers, **values}))


def _check(checks: Iterable[Looked], name: str) -> Looked | None:
    return next((check for check in checks if check.check == name), None)


def _are_camps_of_crowd(alarm: Alarm, found: Sequence[Alarm]) -> bool:
    """Whether camps on questions are those of the crowd, which rings as well."""
    if alarm.kind != "two_camps" or alarm.workers:
        return False
    same = alarm.message.values.get("same_as_crowd")
    ring = any(one.kind == "two_camps" and one.workers for one in found)
    return ring and same is not None and same >= SAME_CAMPS
