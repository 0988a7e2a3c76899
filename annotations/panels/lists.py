"""Files that panels take: who is approved, who is rejected and why; only who is decided of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.fields.json import KT

from annotations.exchange.prolific import PAST_APPROVING, PAST_REJECTING
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.writing.formats import Table
from annotations.models import PanelFile, Response
from annotations.panels.people import Person

SETTLED = ("approved", "rejected")
MTURK_COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Approve", "Reject")
MARKED = MTURK_COLUMNS[-2:]
MTURK_LEAST = ("WorkerId", "Approve", "Reject")
_BULLET = re.compile(r"^-(?=[ \t])", re.MULTILINE)
REJECTED_COLUMNS = ("submission_id", "participant_id", "rejection_category", "message")


@dataclass
class PanelLists:
    """The files about the people of a version, and what there is to say of them.

    Whom nothing is decided of is in no file. Each query is made once, when it is needed.
    """

    version: int
    people: list[Person]
    of_rows: Counter[str] = field(default_factory=Counter)
    """Of a batch, once its rows were taken: how many are marked how, by a code."""

    @cached_property
    def decided(self) -> list[Person]:
        """Those of whom something is decided here."""
        return [person for person in self.people if person.told is not None]

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
        """The assignments of those who are decided of, each once, in their order."""
        named = {person.worker: person for person in self.decided}
        rows = (
            Response.objects.filter(
                submission__version=self.version,
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

    @cached_property
    def by_submission(self) -> bool:
        """Whether the ids of the submissions on Prolific are known, of everybody decided of."""
        people = list(self._of_prolific())
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
                    *_marks(one["person"]),
                )
                for one in self.assignments
                if not _is_closed(one)
            )
            return Table(MTURK_COLUMNS, rows)
        people = [person for person in self.decided if person.panel in (MTURK, "")]
        return Table(MTURK_LEAST, ((person.name, *_marks(person)) for person in people))

    @cached_property
    def batches(self) -> list[PanelFile]:
        """The batches of Mechanical Turk that were kept whole, in the order of their import."""
        return list(PanelFile.objects.filter(version=self.version).order_by("pk"))

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
        decided = {person.worker: person for person in self.decided}
        places = [header.index(name) for name in MARKED]
        status = status_at(header)
        for cells, worker in batch_rows(file):
            row = [*cells, *[""] * (len(header) - len(cells))]
            marks: tuple[str, str] | None = None
            if was_settled(row, status):
                marks = ("", "")
                self.of_rows["settled"] += 1
            elif worker in decided:
                marks = _marks(decided[worker])
                self.of_rows["rejected" if decided[worker].rejected else "approved"] += 1
            elif any(row[place].strip() for place in places):
                self.of_rows["marked_in_file"] += 1
            else:
                self.of_rows["undecided"] += 1
            if marks is not None:
                for place, mark in zip(places, marks, strict=True):
                    row[place] = mark
            yield tuple(row)

    def n_past(self, *, rejected: bool) -> int:
        """How many rejected, or approved, are in no list for Prolific by where they stand there.

        They were approved or rejected before, or returned or ran out of time.
        """
        return sum(
            person.rejected == rejected and _is_past(person) for person in self._of_prolific()
        )

    @property
    def n_all_past(self) -> int:
        """How many decided are in neither list for Prolific by where they stand there."""
        return self.n_past(rejected=True) + self.n_past(rejected=False)

    def for_prolific(self) -> Iterator[Person]:
        """Yield those who are decided of and of whom Prolific still takes something."""
        return (person for person in self._of_prolific() if not _is_past(person))

    def prolific_approved(self) -> Iterator[str]:
        """Yield the ids of the approved: of submissions where all are known, else of people."""
        for person in self.for_prolific():
            if not person.rejected:
                yield person.submission if self.by_submission else person.name

    def prolific_rejected(self) -> Table:
        """Return the rejected with Prolific's category and a message of 100 characters or more."""
        rows = (
            (person.submission, person.name, person.told.category, _dashed(person.told.message))
            for person in self.for_prolific()
            if person.told is not None and person.rejected
        )
        return Table(REJECTED_COLUMNS, rows)

    def _of_prolific(self) -> Iterator[Person]:
        return (person for person in self.decided if person.panel != MTURK)


def batch_rows(file: PanelFile, which: Q | None = None) -> Iterator[tuple[list[str], UUID]]:
    """Yield the cells and the worker of each row of a batch, but for those of who withdrew."""
    rows = file.rows.filter(which or Q(), submission__withdrawn_at=None).order_by("position")
    return rows.values_list("cells", "submission__worker__public_id").iterator()


def status_at(header: Sequence[str]) -> int | None:
    """Return where a batch says how an assignment stood; None where it does not."""
    return header.index("AssignmentStatus") if "AssignmentStatus" in header else None


def was_settled(row: Sequence[str], status: int | None) -> bool:
    """Whether an assignment was approved or rejected before its batch was downloaded."""
    return status is not None and "".join(row[status : status + 1]).strip().casefold() in SETTLED


def _is_past(person: Person) -> bool:
    return person.status in (PAST_REJECTING if person.rejected else PAST_APPROVING)


def _dashed(message: str) -> str:
    """Return a message with dashes for hyphens that begin a line.

    An apostrophe before these, which takes the formula from a spreadsheet, would be read by the
    person to whom the message goes.
    """
    return _BULLET.sub("–", message)


def _marks(person: Person) -> tuple[str, str]:
    return ("", _dashed(person.told.message)) if person.told and person.rejected else ("x", "")


def _is_closed(assignment: dict[str, Any]) -> bool:
    return assignment["status"].strip().casefold() in SETTLED
