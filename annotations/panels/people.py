"""A version's workers as a panel identifies them, each with the decision that the panel gets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import JSONField, OuterRef, QuerySet, Subquery

from annotations.exchange.prolific import APPROVE, HANDED_IN, OPEN, REJECT, REJECTED
from annotations.exchange.prolific import APPROVED as APPROVED_THERE
from annotations.models import (
    Decision,
    PanelSession,
    PanelStatus,
    QuestionSetVersion,
    Response,
    Submission,
)
from annotations.panels.sentences import REPORTS

# Columns of a decision that a panel gets.
DECISION_COLUMNS = ("kind", "category", "reason")
# The arguments of `compute_seconds_taken`.
TIME_COLUMNS = ("state", "started_at", "submitted_at", "status", "timed")
# Columns of a submission that hold how its worker answered.
ANSWERING_COLUMNS = ("source", "language", "device", "signals_off", "assistive")
# Headers of the id of a submission on Prolific, in files of surveys.
SUBMISSION_CELLS = ("Submission id", "submission_id", "SESSION_ID", "Session id", "session_id")


MOST_NAMED = 5
"""Most workers named in a warning; the others are counted."""


@dataclass(frozen=True, slots=True)
class PanelDecision:
    """A decision as a panel receives it: approve, or reject with category and message.

    `kind` is approve or reject; `category` and `message` belong to a rejection.
    """

    kind: str
    category: str = ""
    message: str = ""

    @property
    def rejected(self) -> bool:
        """Whether the decision is a rejection."""
        return self.kind == REJECT


APPROVED = PanelDecision(APPROVE)


@dataclass(frozen=True, slots=True)
class PanelSubmission:
    """A worker's submission with the panel's ids, its status there, and the decision.

    Attributes
    ----------
    key, worker : the key of the submission; the worker's public id.
    name : the worker's id on the panel.
    submission : the panel's id of the submission; "" if unknown.
    status : its state on the panel by the last import; "" if never imported.
    decision : of the panel; None if undecided.
    handed_in : whether the worker submitted all answers.
    seconds : the time taken (`compute_seconds_taken`).
    withdrew : whether the worker withdrew the answers.
    collected : whether the worker answered on this site.
    language, device, signals_off, assistive : as stored with the submission.
    """

    key: int
    worker: UUID
    name: str
    panel: str
    submission: str
    status: str
    decision: PanelDecision | None
    handed_in: bool
    seconds: float | None
    withdrew: bool
    collected: bool
    language: str
    device: str
    signals_off: bool
    assistive: bool

    @property
    def rejected(self) -> bool:
        """Whether the decision about the submission is a rejection."""
        return self.decision is not None and self.decision.rejected


def load_decisions_in_force(version: QuestionSetVersion | int) -> dict[int, Decision]:
    """Return the decision in force on each decided submission, by submission key."""
    rows = Decision.objects.filter(submission__version=version).order_by("pk")
    # Rows are in order of creation, so the newest of each submission wins.
    newest = {row.submission_id: row for row in rows.select_related("decided_by")}
    return {key: row for key, row in newest.items() if row.kind != OPEN}


def convert_to_panel_decisions(decisions: Mapping[int, Decision]) -> dict[int, PanelDecision]:
    """Return decisions as a panel receives them, by submission key, without reopened ones."""
    converted = {
        key: _convert_to_panel_decision(row.kind, row.category, row.reason)
        for key, row in decisions.items()
    }
    return {key: decision for key, decision in converted.items() if decision is not None}


def build_status_annotations(statuses: QuerySet[PanelStatus]) -> dict[str, Subquery]:
    """Return query annotations for a submission's newest panel status and the panel's time.

    `statuses` are the states of the outer submission, the newest first.
    """
    timed = statuses.filter(seconds__isnull=False)
    # Not always of one row: a later export may leave out the time that an earlier one had.
    return {
        "status": Subquery(statuses.values("status")[:1]),
        "timed": Subquery(timed.values("seconds")[:1]),
    }


def compute_seconds_taken(
    state: str,
    started_at: datetime | None,
    submitted_at: datetime | None,
    status: str | None,
    panel_seconds: float | None,
) -> float | None:
    """Return the seconds that a worker needed for a submission; None if unknown.

    Measured by the server's clock, else by the panel for submitted work. Returned or timed-out
    submissions have no time: they would make the others look fast. Breaks are included.
    """
    if state == Submission.State.SUBMITTED and started_at and submitted_at:
        measured = (submitted_at - started_at).total_seconds()
        # An imported file may have one time for both, which measures nothing.
        if measured > 0:
            return measured
    return panel_seconds if status in HANDED_IN and panel_seconds and panel_seconds > 0 else None


def load_panel_submissions(
    submissions: QuerySet[Submission], decisions: Mapping[int, PanelDecision | None] | None = None
) -> list[PanelSubmission]:
    """Return submissions by their workers' names, each with panel data and decision; one query.

    `decisions` replaces the newest decisions of the log, by submission key.
    """
    same_submission = {"submission": OuterRef("pk")}
    # All answers of a submission have the same ids in their further columns: the first is enough.
    responses = Response.objects.filter(**same_submission).order_by("pk").values("extra")
    sessions = PanelSession.objects.filter(**same_submission).order_by("-pk").values("session_id")
    statuses = PanelStatus.objects.filter(**same_submission).order_by("-pk")
    newest_decisions = Decision.objects.filter(**same_submission).order_by("-pk")
    rows = (
        submissions.annotate(
            extra=Subquery(responses[:1], output_field=JSONField()),
            session=Subquery(sessions[:1]),
            **build_status_annotations(statuses),
            listed=Subquery(statuses.values("session_id")[:1]),
            **{
                name: Subquery(newest_decisions.values(name)[:1])
                for name in DECISION_COLUMNS
                if decisions is None
            },
        )
        .order_by("worker__external_id", "pk")
        .values_list(
            *("pk", "worker__public_id", "worker__external_id", "worker__panel"),
            *("listed", "session", "extra", "withdrawn_at"),
            *ANSWERING_COLUMNS,
            *TIME_COLUMNS,
            *(DECISION_COLUMNS if decisions is None else ()),
        )
    )
    return [
        PanelSubmission(
            # The panel's own list knows best; the link or a survey's file may have a wrong id.
            *(key, worker, name, panel, listed or session or find_submission_id(extra)),
            *(
                status or "",
                _convert_to_panel_decision(*decision) if decisions is None else decisions.get(key),
            ),
            *(
                state == Submission.State.SUBMITTED,
                compute_seconds_taken(state, start, end, status, timed),
            ),
            *(withdrawn_at is not None, source == Submission.Source.COLLECTED),
            *answering,
        )
        for key, worker, name, panel, listed, session, extra, withdrawn_at, *rest in rows
        for source, *answering in [rest[: len(ANSWERING_COLUMNS)]]
        for state, start, end, status, timed, *decision in [rest[len(ANSWERING_COLUMNS) :]]
    ]


def _convert_to_panel_decision(
    kind: str | None, category: str | None, reason: str | None
) -> PanelDecision | None:
    """Return a decision as a panel receives it; None if undecided or reopened."""
    if kind is None or kind == OPEN:
        return None
    return PanelDecision(REJECT, category or "", reason or "") if kind == REJECT else APPROVED


def load_submissions_with_decisions(version: QuestionSetVersion) -> list[PanelSubmission]:
    """Return all submissions of a version, each with the decision in force or None.

    Withdrawn submissions are left out: nothing is decided about them any more.
    """
    submissions = Submission.objects.filter(version=version, withdrawn_at=None)
    return load_panel_submissions(submissions)


def describe_contradictions(people: Sequence[PanelSubmission]) -> Iterator[str]:
    """Yield a sentence for each kind of decision that the panel's status contradicts."""
    for here, there, is_rejected, status in (
        ("rejected", "approved", True, APPROVED_THERE),
        ("approved", "rejected", False, REJECTED),
    ):
        names = [
            person.name
            for person in people
            if person.decision is not None
            and person.rejected == is_rejected
            and person.status == status
        ]
        if names:
            yield REPORTS.text(
                "contradicted", here=here, there=there, names=names[:MOST_NAMED], n=len(names)
            )


def find_submission_id(
    cells: Mapping[str, Any] | None, headers: Collection[str] = SUBMISSION_CELLS
) -> str:
    """Return the panel's submission id from the extra columns of an answer; "" if missing."""
    values = (str((cells or {}).get(name, "")).strip() for name in headers)
    return next((text for text in values if text), "")
