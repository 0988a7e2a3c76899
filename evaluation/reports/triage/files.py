"""What panels are told: who is approved, who is rejected and why. Only of whom somebody decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import JSONField, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT

from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.models import PanelFile, Response, Submission
from evaluation.models import Run, WorkerGrade
from evaluation.reports.spreadsheet import Table
from evaluation.reports.triage.verdicts import VOTED, Decided, verdicts_of
from evaluation.words.triage import OWN, REASONS, told_to_worker

SETTLED = ("approved", "rejected")
# What a survey's file calls the id of a submission on Prolific.
SUBMISSION = ("Submission id", "submission_id", "SESSION_ID", "Session id", "session_id")
DECISIONS = (
    *("worker", "panel", "decision", "category", "reason", "rejected", "by", "at"),
    "with_others",
)
MTURK_COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Approve", "Reject")
MARKED = MTURK_COLUMNS[-2:]
MTURK_LEAST = ("WorkerId", "Approve", "Reject")
REJECTED_COLUMNS = ("submission_id", "participant_id", "rejection_category", "message")


@dataclass(frozen=True)
class _Person:
    """Somebody who answered, as a panel knows them."""

    worker: UUID
    name: str
    panel: str
    submission: str
    verdict: Decided | None

    @property
    def is_settled(self) -> bool:
        """Whether somebody accepted or excluded them."""
        return self.verdict is not None and self.verdict.kind in ("accept", "exclude")

    @property
    def rejected(self) -> bool:
        """Whether the work is refused."""
        return self.verdict is not None and self.verdict.rejects

    @property
    def message(self) -> str:
        """What a rejected worker reads."""
        assert self.verdict is not None
        return told_to_worker(self.verdict.category, self.verdict.reason)


@dataclass
class PanelFiles:
    """The files of a run, and what there is to say of them; each query is made once, when needed.

    Who is accepted is approved, and so is who is left out of the grades and not rejected: pay is
    for work, not for agreeing. Whom nobody decided of is in no file.
    """

    run: Run

    @cached_property
    def people(self) -> list[_Person]:
        """Everybody in the run, by name."""
        verdicts = verdicts_of(self.run)
        in_run = _in_run(self.run).values("worker")
        first = Response.objects.filter(submission=OuterRef("pk")).order_by("pk").values("extra")
        rows = (
            Submission.objects.filter(version=self.run.version_id, worker__in=in_run)
            .annotate(kept=Subquery(first[:1], output_field=JSONField()))
            .order_by("worker__external_id", "pk")
            .values_list("worker__public_id", "worker__external_id", "worker__panel", "kept")
        )
        return [
            _Person(worker, name, panel, _submission(kept), verdicts.get(worker))
            for worker, name, panel, kept in rows
        ]

    @property
    def settled(self) -> list[_Person]:
        """Those who are accepted or excluded."""
        return [person for person in self.people if person.is_settled]

    @property
    def n_approved(self) -> int:
        """How many are approved."""
        return sum(not person.rejected for person in self.settled)

    @property
    def n_paid_but_left_out(self) -> int:
        """How many of the approved are left out of the grades."""
        return sum(_kind(person) == "exclude" and not person.rejected for person in self.settled)

    @property
    def n_rejected(self) -> int:
        """How many are rejected."""
        return sum(person.rejected for person in self.settled)

    @property
    def n_again(self) -> int:
        """How many are to be looked at again."""
        return sum(_kind(person) == "look" for person in self.people)

    @property
    def n_undecided(self) -> int:
        """Of how many nobody decided."""
        return sum(person.verdict is None for person in self.people)

    @property
    def of_mturk(self) -> bool:
        """Whether somebody comes from Mechanical Turk."""
        return any(person.panel == MTURK for person in self.people)

    @property
    def of_prolific(self) -> bool:
        """Whether somebody may come from Prolific: from no other panel."""
        return any(person.panel != MTURK for person in self.people)

    @cached_property
    def assignments(self) -> list[dict[str, Any]]:
        """The assignments of those who are settled, each once, in their order."""
        named = {person.worker: person for person in self.settled}
        rows = (
            Response.objects.filter(
                submission__version=self.run.version_id,
                submission__worker__public_id__in=list(named),
            )
            .annotate(assignment=KT("extra__AssignmentId"), stood=KT("extra__AssignmentStatus"))
            .order_by("submission__worker__external_id", "question__position", "pk")
            .values_list(
                "submission__worker__public_id", "question__external_id", "assignment", "stood"
            )
        )
        found: dict[str, dict[str, Any]] = {}
        for worker, question, assignment, status in rows:
            if assignment:
                entry = {
                    "person": named[worker],
                    "hit": question.partition(":")[0],
                    "assignment": assignment,
                    "status": status or "",
                }
                found.setdefault(assignment, entry)
        return list(found.values())

    @property
    def has_assignments(self) -> bool:
        """Whether the ids of assignments are known."""
        return bool(self.assignments)

    @property
    def n_closed(self) -> int:
        """How many assignments were approved or rejected before, and are in no file."""
        return sum(_is_closed(one) for one in self.assignments)

    @property
    def by_submission(self) -> bool:
        """Whether the ids of the submissions on Prolific are known, of everybody who is settled."""
        people = [person for person in self.settled if person.panel != MTURK]
        return bool(people) and all(person.submission for person in people)

    def mturk(self) -> Table:
        """Return the table that Mechanical Turk takes: a cross in Approve or a text in Reject."""
        if self.has_assignments:
            rows = (
                (
                    one["hit"],
                    one["assignment"],
                    one["person"].name,
                    one["status"],
                    *_told(one["person"]),
                )
                for one in self.assignments
                if not _is_closed(one)
            )
            return Table(MTURK_COLUMNS, rows)
        people = [person for person in self.settled if person.panel in (MTURK, "")]
        return Table(MTURK_LEAST, ((person.name, *_told(person)) for person in people))

    @cached_property
    def batches(self) -> list[PanelFile]:
        """The batches of Mechanical Turk that were kept whole, in the order of their import."""
        return list(PanelFile.objects.filter(version=self.run.version_id).order_by("pk"))

    @cached_property
    def n_outside(self) -> int:
        """How many people of the batches are not in the run and have cells still to be filled.

        The run left them out, or their answers came later.
        """
        inside = _in_run(self.run).values("worker")
        return len(
            {
                worker
                for file in self.batches
                for cells, worker in _rows(file, ~Q(submission__worker__in=inside))
                if not _was_settled(cells, _status_at(file.header))
            }
        )

    def batch(self, public_id: UUID) -> Table | None:
        """Return a batch as it was imported, with Approve and Reject filled; None without it.

        Of whom nobody decided the two cells stay as they were; those of an assignment that was
        approved or rejected before are empty: a cross would turn a rejection round.
        """
        file = next((one for one in self.batches if one.public_id == public_id), None)
        if file is None:
            return None
        header = (*file.header, *(name for name in MARKED if name not in file.header))
        return Table(header, self._reviewed(file, header))

    def _reviewed(self, file: PanelFile, header: Sequence[str]) -> Iterator[tuple[str, ...]]:
        decided = {person.worker: person for person in self.settled}
        places = [header.index(name) for name in MARKED]
        status = _status_at(header)
        for cells, worker in _rows(file):
            row = [*cells, *[""] * (len(header) - len(cells))]
            marks: tuple[str, str] | None = None
            if _was_settled(row, status):
                marks = ("", "")
            elif worker in decided:
                marks = _told(decided[worker])
            if marks is not None:
                for place, mark in zip(places, marks, strict=True):
                    row[place] = mark
            yield tuple(row)

    def prolific_approved(self) -> Iterator[str]:
        """Yield the ids of the approved: of submissions where all are known, else of people."""
        for person in self._of_prolific():
            if not person.rejected:
                yield person.submission if self.by_submission else person.name

    def prolific_rejected(self) -> Table:
        """Return the rejected with Prolific's category and a message of 100 characters or more."""
        rows = (
            (person.submission, person.name, _category(person), person.message)
            for person in self._of_prolific()
            if person.rejected
        )
        return Table(REJECTED_COLUMNS, rows)

    def decisions(self) -> Table:
        """Return every decision that counts, to look again included."""
        rows = (_decision(person) for person in self.people if person.verdict is not None)
        return Table(DECISIONS, rows)

    def _of_prolific(self) -> Iterable[_Person]:
        return (person for person in self.settled if person.panel != MTURK)


def _kind(person: _Person) -> str:
    return person.verdict.kind if person.verdict else ""


def _told(person: _Person) -> tuple[str, str]:
    return ("", person.message) if person.rejected else ("x", "")


def _category(person: _Person) -> str:
    assert person.verdict is not None
    return REASONS.get(person.verdict.category, REASONS[OWN]).prolific


def _is_closed(assignment: dict[str, Any]) -> bool:
    return assignment["status"].strip().casefold() in SETTLED


def _in_run(run: Run) -> QuerySet[WorkerGrade]:
    return WorkerGrade.objects.filter(VOTED, run=run)


def _rows(file: PanelFile, which: Q | None = None) -> Iterator[tuple[list[str], UUID]]:
    """Yield the cells and the worker of each row of a batch, but for those of who withdrew."""
    rows = file.rows.filter(which or Q(), submission__withdrawn_at=None).order_by("position")
    return rows.values_list("cells", "submission__worker__public_id").iterator()


def _status_at(header: Sequence[str]) -> int | None:
    return header.index("AssignmentStatus") if "AssignmentStatus" in header else None


def _was_settled(row: Sequence[str], status: int | None) -> bool:
    """Whether an assignment was approved or rejected before its batch was downloaded."""
    return status is not None and "".join(row[status : status + 1]).strip().casefold() in SETTLED


def _submission(kept: dict[str, Any] | None) -> str:
    found = (str((kept or {}).get(name, "")).strip() for name in SUBMISSION)
    return next((text for text in found if text), "")


def _decision(person: _Person) -> tuple[object, ...]:
    verdict = person.verdict
    assert verdict is not None
    return (
        person.name,
        person.panel,
        verdict.kind,
        verdict.category,
        verdict.reason,
        "true" if verdict.rejects else "false",
        verdict.by,
        verdict.at.isoformat(timespec="seconds"),
        "true" if verdict.together else "false",
    )
