"""What panels are told of the people of a run. Only of whom somebody decided.

What the log of decisions says of a submission goes before what was decided in the run, which only
proposes: who is paid is said in one place.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from uuid import UUID

from django.db.models import Q, QuerySet

from annotations.exchange.writing.formats import Table
from annotations.models import Submission
from annotations.panels.lists import PanelLists, batch_rows, status_at, was_settled
from annotations.panels.people import APPROVED, Person, Told, people_of, standing, told_of
from evaluation.models import Run, WorkerGrade
from evaluation.reports.triage.verdicts import VOTED, Decided, verdicts_of
from evaluation.words.triage import OWN, REASONS, told_to_worker

DECISIONS = (
    *("worker", "panel", "decision", "category", "reason", "rejected", "by", "at"),
    "with_others",
)


class PanelFiles(PanelLists):
    """The files of a run, and what there is to say of them; each query is made once, when needed.

    Who is accepted is approved, and so is who is left out of the grades and not rejected: pay is
    for work, not for agreeing. Whom nobody decided of is in no file.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.version = run.version_id
        self.of_rows = Counter()

    @cached_property
    def verdicts(self) -> dict[UUID, Decided]:
        """What was decided of workers in the run."""
        return verdicts_of(self.run)

    @cached_property
    def people(self) -> list[Person]:  # type: ignore[override]
        """Everybody in the run, by name."""
        there = Submission.objects.filter(
            version=self.run.version_id, worker__in=_in_run(self.run).values("worker")
        )
        workers = dict(there.values_list("pk", "worker__public_id"))
        proposed = {key: proposal(self.verdicts.get(worker)) for key, worker in workers.items()}
        return people_of(there, proposed | told_of(standing(self.run.version_id)))

    @property
    def n_approved(self) -> int:
        """How many are approved."""
        return sum(not person.rejected for person in self.decided)

    @property
    def n_paid_but_left_out(self) -> int:
        """How many of the approved are left out of the grades."""
        return sum(
            self._kind(person) == "exclude" and not person.rejected for person in self.decided
        )

    @property
    def n_rejected(self) -> int:
        """How many are rejected."""
        return sum(person.rejected for person in self.decided)

    @property
    def n_again(self) -> int:
        """How many are to be looked at again."""
        return sum(self._kind(person) == "look" for person in self.people if not person.told)

    @property
    def n_undecided(self) -> int:
        """Of how many nobody decided."""
        return sum(self._kind(person) == "" for person in self.people if not person.told)

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
                for cells, worker in batch_rows(file, ~Q(submission__worker__in=inside))
                if not was_settled(cells, status_at(file.header))
            }
        )

    def decisions(self) -> Table:
        """Return every decision of the run that counts, to look again included."""
        rows = (
            _decision(person, self.verdicts[person.worker])
            for person in self.people
            if person.worker in self.verdicts
        )
        return Table(DECISIONS, rows)

    def _kind(self, person: Person) -> str:
        verdict = self.verdicts.get(person.worker)
        return verdict.kind if verdict else ""


def proposal(verdict: Decided | None) -> Told | None:
    """Return what a panel is told by what was decided in a run; None where nothing is."""
    if verdict is None or verdict.kind not in ("accept", "exclude"):
        return None
    if not verdict.rejects:
        return APPROVED
    category = REASONS.get(verdict.category, REASONS[OWN]).prolific
    return Told("reject", category, told_to_worker(verdict.category, verdict.reason))


def _in_run(run: Run) -> QuerySet[WorkerGrade]:
    return WorkerGrade.objects.filter(VOTED, run=run)


def _decision(person: Person, verdict: Decided) -> tuple[object, ...]:
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
