"""Files for panels with decisions about workers: who is approved, who is rejected and why.

Undecided workers are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models.fields.json import KT

from annotations.exchange.prolific import PAST_APPROVING, PAST_REJECTING
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.writing.formats import Table
from annotations.models import PanelFile, Response
from annotations.panels.people import PanelSubmission

SETTLED = ("approved", "rejected")
"""States of assignments that Mechanical Turk does not change any more."""
MTURK_COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Approve", "Reject")
MARK_COLUMNS = MTURK_COLUMNS[-2:]
MTURK_WORKER_COLUMNS = ("WorkerId", "Approve", "Reject")
"""Columns of the table when the ids of assignments are unknown."""
_BULLET = re.compile(r"^-(?=[ \t])", re.MULTILINE)
REJECTED_COLUMNS = ("submission_id", "participant_id", "rejection_category", "message")


@dataclass
class PanelLists:
    """Decisions on a version's workers as files for a panel, with counts for notes.

    The files hold only workers with a decision. Each query runs once, at first use; the query for
    batches is skipped where the version has none (`may_have_batches`).
    """

    version: int
    people: list[PanelSubmission]
    may_have_batches: bool = True
    of_rows: Counter[str] = field(default_factory=Counter)
    """Rows of a batch by their mark (a code), complete once all its rows were read."""

    @cached_property
    def decided(self) -> list[PanelSubmission]:
        """Workers with a decision."""
        return [person for person in self.people if person.decision is not None]

    @property
    def has_mturk_workers(self) -> bool:
        """Whether any worker comes from Mechanical Turk."""
        return any(person.panel == MTURK for person in self.people)

    @property
    def may_have_prolific_workers(self) -> bool:
        """Whether any worker may come from Prolific, because no other panel is known."""
        return any(person.panel != MTURK for person in self.people)

    @cached_property
    def assignments(self) -> list[dict[str, Any]]:
        """Distinct Mechanical Turk assignments of workers with a decision, sorted by worker id."""
        by_worker = {person.worker: person for person in self.decided}
        rows = (
            Response.objects.filter(
                submission__version=self.version,
                submission__worker__public_id__in=list(by_worker),
            )
            .annotate(
                assignment=KT("extra__AssignmentId"), earlier_status=KT("extra__AssignmentStatus")
            )
            .order_by("submission__worker__external_id", "question__position", "pk")
            .values_list(
                "submission__worker__public_id",
                "question__external_id",
                "assignment",
                "earlier_status",
            )
        )
        assignments: dict[str, dict[str, Any]] = {}
        for worker, question, assignment, status in rows:
            if assignment:
                # Question ids of a batch are HITID:COLUMN (`reading.mturk`), so an assignment with
                # several answers comes several times.
                entry = {
                    "person": by_worker[worker],
                    "hit": question.partition(":")[0],
                    "assignment": assignment,
                    "status": status or "",
                }
                assignments.setdefault(assignment, entry)
        return list(assignments.values())

    @property
    def has_assignments(self) -> bool:
        """Whether the Mechanical Turk ids of any assignments are known."""
        return bool(self.assignments)

    @property
    def n_closed(self) -> int:
        """Number of assignments already approved or rejected at the import; the files omit them."""
        return sum(_is_assignment_closed(assignment) for assignment in self.assignments)

    @cached_property
    def by_submission(self) -> bool:
        """Whether Prolific's submission ids are known for all workers with a decision."""
        # A list has ids of one type: Prolific refuses a mixture.
        people = list(self._iterate_prolific_decisions())
        return bool(people) and all(person.submission for person in people)

    def build_mturk_table(self) -> Table:
        """Return the table for Mechanical Turk: "x" in Approve or a text in Reject."""
        if self.has_assignments:
            rows = (
                (
                    assignment["hit"],
                    assignment["assignment"],
                    assignment["person"].name,
                    assignment["status"],
                    *_format_marks(assignment["person"]),
                )
                for assignment in self.assignments
                if not _is_assignment_closed(assignment)
            )
            return Table(MTURK_COLUMNS, rows)
        # A worker imported without a panel may be of Mechanical Turk.
        people = [person for person in self.decided if person.panel in (MTURK, "")]
        return Table(
            MTURK_WORKER_COLUMNS, ((person.name, *_format_marks(person)) for person in people)
        )

    @cached_property
    def batches(self) -> list[PanelFile]:
        """Stored batch files of Mechanical Turk, in the order of import."""
        if not self.may_have_batches:
            return []
        return list(PanelFile.objects.filter(version=self.version).order_by("pk"))

    def build_batch_table(self, public_id: UUID) -> Table | None:
        """Return a stored batch file with Approve and Reject filled in; None if it is unknown.

        The two cells of undecided workers stay as they were. They are empty for an assignment that
        was settled before, because a cross would reverse a rejection.
        """
        file = next((batch for batch in self.batches if batch.public_id == public_id), None)
        if file is None:
            return None
        header = (*file.header, *(name for name in MARK_COLUMNS if name not in file.header))
        return Table(header, self._fill_marks(file, header))

    def _fill_marks(self, file: PanelFile, header: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield a batch's rows with Approve and Reject filled in, and count them."""
        decided = {person.worker: person for person in self.decided}
        columns = [header.index(name) for name in MARK_COLUMNS]
        status_column = find_status_column(header)
        for cells, worker in read_batch_rows(file):
            # A file may leave out empty cells at the end of a row.
            row = [*cells, *[""] * (len(header) - len(cells))]
            marks: tuple[str, str] | None = None
            if was_assignment_settled(row, status_column):
                marks = ("", "")
                self.of_rows["settled"] += 1
            elif worker in decided:
                marks = _format_marks(decided[worker])
                self.of_rows["rejected" if decided[worker].rejected else "approved"] += 1
            elif any(row[column].strip() for column in columns):
                self.of_rows["marked_in_file"] += 1
            else:
                self.of_rows["undecided"] += 1
            if marks is not None:
                for column, mark in zip(columns, marks, strict=True):
                    row[column] = mark
            yield tuple(row)

    def count_settled_workers(self, *, rejected: bool) -> int:
        """Return the number of rejected (or approved) workers whose status on Prolific is final.

        They were approved or rejected there, returned, or timed out; no list has them.
        """
        return sum(
            person.rejected == rejected and _is_status_final(person)
            for person in self._iterate_prolific_decisions()
        )

    @property
    def n_all_settled(self) -> int:
        """Number of workers with a decision whose status on Prolific is final already."""
        return self.count_settled_workers(rejected=True) + self.count_settled_workers(
            rejected=False
        )

    def select_for_prolific(self) -> Iterator[PanelSubmission]:
        """Yield the workers with a decision whose status on Prolific is not final."""
        return (
            person for person in self._iterate_prolific_decisions() if not _is_status_final(person)
        )

    def list_prolific_approvals(self) -> Iterator[str]:
        """Yield the ids to approve: submission ids if all are known, else participant ids."""
        for person in self.select_for_prolific():
            if not person.rejected:
                yield person.submission if self.by_submission else person.name

    def build_prolific_rejections(self) -> Table:
        """Return the rejections as a table, with Prolific's category and a message."""
        rows = (
            (
                person.submission,
                person.name,
                person.decision.category,
                _replace_bullets(person.decision.message),
            )
            for person in self.select_for_prolific()
            if person.decision is not None and person.rejected
        )
        return Table(REJECTED_COLUMNS, rows)

    def _iterate_prolific_decisions(self) -> Iterator[PanelSubmission]:
        """Yield the workers with a decision who are not from Mechanical Turk."""
        return (person for person in self.decided if person.panel != MTURK)


def read_batch_rows(file: PanelFile) -> Iterator[tuple[list[str], UUID]]:
    """Yield (cells, worker's public id) of each row of a batch file, without withdrawn workers."""
    rows = file.rows.filter(submission__withdrawn_at=None).order_by("position")
    return rows.values_list("cells", "submission__worker__public_id").iterator()


def find_status_column(header: Sequence[str]) -> int | None:
    """Return the index of the column with the assignment status; None if it is missing."""
    return header.index("AssignmentStatus") if "AssignmentStatus" in header else None


def was_assignment_settled(row: Sequence[str], status_column: int | None) -> bool:
    """Return whether a row's assignment was approved or rejected before the batch's download."""
    return (
        status_column is not None
        and "".join(row[status_column : status_column + 1]).strip().casefold() in SETTLED
    )


def _is_status_final(person: PanelSubmission) -> bool:
    """Return whether a worker's status on Prolific is final, so that no decision is sent there."""
    return person.status in (PAST_REJECTING if person.rejected else PAST_APPROVING)


def _replace_bullets(message: str) -> str:
    """Return a message with a dash in place of each hyphen that begins a line.

    A spreadsheet would read such a hyphen as a formula. The apostrophe that prevents this would
    be seen by the worker.
    """
    return _BULLET.sub("–", message)


def _format_marks(person: PanelSubmission) -> tuple[str, str]:
    """Return the cells (Approve, Reject) for a worker with a decision."""
    return (
        ("", _replace_bullets(person.decision.message))
        if person.decision and person.rejected
        else ("x", "")
    )


def _is_assignment_closed(assignment: dict[str, Any]) -> bool:
    """Return whether Mechanical Turk had approved or rejected an assignment before the import."""
    return assignment["status"].strip().casefold() in SETTLED
