"""Select the workers of a version to invite again, as ids for a panel's allow list.

Workers of several question sets are compared by the raw leave-one-out score or the question
contrast, because a grade is relative to the other workers of its run. The list has no scores, and
nothing is stored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from annotations.exchange.prolific import REJECT, REJECTED
from annotations.models import Collection, QuestionSetVersion, Submission, Worker
from annotations.panels.people import load_decisions_in_force
from annotations.panels.statuses import load_newest_statuses
from evaluation.models import Run
from evaluation.payments.storage.rules import (
    LOW,
    SCORE,
    RuleError,
    check_score_exists,
    get_compared_score,
)
from evaluation.runs.raw_scores import RAW, SCORES, RawScore, find_grading_run, load_worker_scores

ENDS = {SCORE: "the score", LOW: "the lower end of its interval"}
MOST = 1_000
"""Largest absolute value of a score, on whatever scale."""
LEFT_OUT = {
    "withdrew": "withdrew what they wrote",
    "other_panel": "came from another panel",
    "no_id": "came without an id of a panel",
    "open": "did not hand in",
    "rejected": "rejected, here or on the panel",
    "no_score": "without a score in the grading that counts",
    "too_few": "gave too few answers for a score",
    "below": "did not reach it",
}
"""Reasons why a worker is not invited; the first reason that applies counts."""
# `annotations.answering.places` makes up such an id for a worker without a panel's id.
_MADE_UP_ID = re.compile(r"anonymous-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """Score threshold that a worker must reach to be invited again.

    Attributes
    ----------
    at_least : least value, on the scale of the run. end : a key of `ENDS`: what has to reach it.
    panel : panel whose ids are wanted; "" for that of the collection, or the only one.
    score : by which workers are compared, a key of `SCORES`.
    """

    at_least: float
    end: str = SCORE
    panel: str = ""
    score: str = RAW

    def check_values(self) -> None:
        """Raise RuleError if a value of the threshold is out of range."""
        # NaN compares false, so this form of the condition refuses it as well.
        if not abs(self.at_least) <= MOST:
            raise RuleError("at_least", "score_range", most=MOST)
        if self.end not in ENDS:
            raise RuleError("end", "unknown_end", given=self.end, known=", ".join(ENDS))
        if self.score not in SCORES:
            raise RuleError("score", "unknown_score", given=self.score, known=", ".join(SCORES))


@dataclass(frozen=True, slots=True)
class InvitedWorkers:
    """Workers who reach a threshold, and numbers of the others by reason.

    Attributes
    ----------
    run : official grading of the version. panel : panel of the ids, "" where files name none.
    ids : the panel's ids, each once, sorted.
    left_out : number of other ids by reason, in the order of `LEFT_OUT`; without zeros.
    """

    run: Run
    line: ScoreThreshold
    panel: str
    ids: list[str]
    left_out: dict[str, int]

    @property
    def n_people(self) -> int:
        """Number of workers who began the survey: those to invite and those left out."""
        return len(self.ids) + sum(self.left_out.values())

    @property
    def told(self) -> list[tuple[int, str]]:
        """(Number of workers left out, label of the reason) pairs."""
        return [(n, LEFT_OUT[why]) for why, n in self.left_out.items()]

    def lines(self) -> Iterator[str]:
        """Yield the numbers of invited and left-out workers as lines for a terminal."""
        what = SCORES[self.line.score]
        yield f"{len(self.ids):,} of {self.n_people:,} people reach {self.line.at_least:g} ({what})"
        yield from (f"left out: {n:,} {why}" for n, why in self.told)


def select_invited_workers(
    version: QuestionSetVersion, threshold: ScoreThreshold
) -> InvitedWorkers:
    """Return the workers of a version to invite again; the number of queries is constant.

    Invited are workers who submitted, did not withdraw, are not rejected, have enough answers for a
    rank, and reach the threshold. Rejected is who the newest decision rejects; without a decision,
    who the panel rejects. If an id came from the panel and from a file without a panel, both are
    one worker, and a reason against either applies. Raises RuleError for an invalid threshold,
    without a grading, and if the panel is ambiguous.
    """
    threshold.check_values()
    run = find_grading_run(version)
    if run is None:
        raise RuleError("", "no_scores")
    panel = _choose_panel(version, threshold.panel)
    submissions = Submission.objects.filter(version=version)
    decisions, statuses = (
        load_decisions_in_force(version),
        load_newest_statuses(submissions.values("pk")),
    )
    scores, reasons = load_worker_scores(run, score=threshold.score), list(LEFT_OUT)
    check_score_exists(threshold.score, scores)
    reason_by_id: dict[str, str] = {}
    for submission in submissions.select_related("worker").order_by("worker__external_id", "pk"):
        decision, status = decisions.get(submission.pk), statuses.get(submission.pk)
        # A decision made here is newer knowledge than the panel's status, also if it approves.
        if decision is not None:
            rejected = decision.kind == REJECT
        else:
            rejected = status is not None and status.status == REJECTED
        reason = _find_exclusion_reason(submission, panel, rejected=rejected) or _find_score_reason(
            scores.get(submission.worker_id), threshold
        )
        # Two workers may have one id: the reason that comes first in `LEFT_OUT` applies.
        earlier_reason = reason_by_id.setdefault(submission.worker.external_id, reason)
        if reason and (not earlier_reason or reasons.index(reason) < reasons.index(earlier_reason)):
            reason_by_id[submission.worker.external_id] = reason
    counts = Counter(reason_by_id.values())
    return InvitedWorkers(
        *(run, threshold, panel, [name for name, reason in reason_by_id.items() if not reason]),
        {reason: counts[reason] for reason in LEFT_OUT if counts[reason]},
    )


def list_panels(version: QuestionSetVersion) -> list[str]:
    """Return the panels of the workers of a version, sorted."""
    workers = Worker.objects.filter(submissions__version=version).exclude(panel="")
    return sorted(set(workers.order_by().values_list("panel", flat=True).distinct()))


def _choose_panel(version: QuestionSetVersion, requested: str) -> str:
    """Return the requested panel, or the only one; raise RuleError if unknown or ambiguous."""
    panels = list_panels(version)
    if requested and requested not in panels:
        known = ", ".join(panels) or "none"
        raise RuleError("panel", "unknown_panel", given=requested[:100], known=known)
    if requested or len(panels) < 2:
        return requested or next(iter(panels), "")
    panel_of_collection = (
        Collection.objects.filter(version=version).values_list("panel", flat=True).first()
    )
    # Workers of other panels may have come by files; the collection's own panel is meant.
    if panel_of_collection in panels:
        return str(panel_of_collection)
    raise RuleError("panel", "several_panels", known=", ".join(panels))


def _find_exclusion_reason(submission: Submission, panel: str, *, rejected: bool) -> str:
    """Return the code of the reason that excludes a worker whatever the score; "" if none."""
    if submission.withdrawn_at or submission.worker.erased_at:
        return "withdrew"
    # Files may name no panel; their ids are taken as the wanted panel's.
    if submission.worker.panel not in ("", panel):
        return "other_panel"
    if _MADE_UP_ID.fullmatch(submission.worker.external_id):
        return "no_id"
    if submission.state != Submission.State.SUBMITTED:
        return "open"
    return "rejected" if rejected else ""


def _find_score_reason(score: RawScore | None, threshold: ScoreThreshold) -> str:
    """Return the code of the reason why a score does not suffice; "" if it does."""
    if score is None or score.value is None:
        return "no_score"
    # The mean of one or two answers may be high by chance.
    value = get_compared_score(score, threshold.end) if score.supported else None
    if value is None:
        return "too_few"
    return "" if value >= threshold.at_least else "below"
