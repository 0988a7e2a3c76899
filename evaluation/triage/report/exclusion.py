"""Preview of a run without the excluded workers, and the files of decisions for panels.

The files are those of the payment pages: all workers of the version with a decision in the log.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from uuid import UUID

from django.db.models import Count, F, QuerySet, Sum

from annotations.exchange.writing.formats import Table
from annotations.models import PanelRow
from annotations.panels.lists import PanelLists, find_status_column, was_assignment_settled
from annotations.panels.people import PanelSubmission, load_submissions_with_decisions
from evaluation.consensus.methods.scale import FEWEST_ANSWERERS
from evaluation.core.messages.message import Message
from evaluation.models import AnswerScore, ExemplaryAnswer, Run, WorkerGrade
from evaluation.models.grades import VOTED
from evaluation.runs.reports.verdicts import WorkerDecision, load_current_verdicts

# Thin questions that the preview lists by name.
MAX_LISTED = 20


@dataclass(frozen=True)
class ThinQuestion:
    """A question that an exclusion leaves with fewer than 3 answers, and that had 3 or more."""

    question: UUID
    name: str
    n_before: int
    n_after: int


@dataclass(frozen=True)
class LeftOutWorker:
    """A worker who would be left out of the next run, with the reason."""

    name: str
    n_answers: int
    verdict: WorkerDecision


@dataclass(frozen=True)
class ExclusionPreview:
    """Preview of a run with the same settings and without the excluded workers.

    Attributes
    ----------
    left_out : excluded workers, sorted by name. n_people, n_answers : workers and answers of this
        run; `n_people_left` and `n_answers_left` of them remain.
    thin : the first 20 of `n_thin` questions that would keep fewer than 3 answers, fewest first.
    before : external ids of workers that this run excludes already; they stay excluded.
    """

    renamed_keys: ClassVar = {
        "said": "message",
        "thin_said": "few_answers_message",
    }

    left_out: list[LeftOutWorker]
    n_people: int
    n_people_left: int
    n_answers: int
    n_answers_left: int
    thin: list[ThinQuestion]
    n_thin: int
    before: tuple[str, ...]

    @property
    def verdicts(self) -> str:
        """Public ids of the decisions, comma-separated, for a form field."""
        return ",".join(sorted(excluded.verdict.id.hex for excluded in self.left_out))

    @property
    def said(self) -> Message:
        """Message with the numbers of workers and answers that remain after the exclusion."""
        values = {
            "out": len(self.left_out),
            "left": self.n_people_left,
            "all": self.n_people,
            "answers": self.n_answers_left,
            "all_answers": self.n_answers,
        }
        return Message("triage.without", values)

    @property
    def thin_said(self) -> Message:
        """Message with the number of questions that the exclusion leaves below 3 answers."""
        return Message("triage.thin", {"questions": self.n_thin})


def preview_exclusion(run: Run) -> ExclusionPreview:
    """Return the preview of a run without the excluded workers; five queries.

    Only workers and answers that the run graded count.
    """
    verdicts = [
        verdict for verdict in load_current_verdicts(run).values() if verdict.kind == "exclude"
    ]
    by_worker = {verdict.worker: verdict for verdict in verdicts}
    grades = WorkerGrade.objects.filter(VOTED, run=run)
    total = grades.aggregate(people=Count("pk"), answers=Sum("n_answers"))
    rows = grades.filter(worker__public_id__in=list(by_worker)).values_list(
        "worker__public_id", "worker__external_id", "n_answers", "worker_id"
    )
    excluded = sorted(rows, key=lambda row: row[1])
    thin = _find_thin_questions(run, [row[3] for row in excluded])
    n_answers = total["answers"] or 0
    return ExclusionPreview(
        left_out=[LeftOutWorker(name, n, by_worker[worker]) for worker, name, n, _ in excluded],
        n_people=total["people"],
        n_people_left=total["people"] - len(excluded),
        n_answers=n_answers,
        n_answers_left=n_answers - sum(row[2] for row in excluded),
        thin=thin[:MAX_LISTED],
        n_thin=len(thin),
        before=tuple(run.parameters.get("exclude_workers", ())),
    )


def _find_thin_questions(run: Run, workers: list[int]) -> list[ThinQuestion]:
    """Return the questions that would fall below 3 answers, those with the fewest first.

    `workers` are the keys of the excluded workers. Questions below 3 before are no finding.
    """
    n_excluded = dict(
        AnswerScore.objects.filter(run=run, response__submission__worker__in=workers)
        .order_by()
        .values_list("response__question")
        .annotate(n=Count("pk"))
    )
    rows = ExemplaryAnswer.objects.filter(run=run, n_answers__gte=FEWEST_ANSWERERS).values_list(
        "question_id", "question__public_id", "question__external_id", "n_answers"
    )
    questions = [
        # The key exists: a question with 3 answers falls below 3 only by excluded ones.
        ThinQuestion(public_id, name, n, max(0, n - n_excluded[key]))
        for key, public_id, name, n in rows.order_by(F("question__position"))
        if n - n_excluded.get(key, 0) < FEWEST_ANSWERERS
    ]
    return sorted(questions, key=lambda question: question.n_after)


DECISIONS = (
    *("worker", "panel", "decision", "category", "reason", "rejected", "by", "at"),
    "with_others",
)


class RunPanelLists(PanelLists):
    """Decisions on the workers of a run's version as files for panels, and their counts.

    They are the files of the payment pages; each query runs once. Accepted workers are approved.
    Workers who are excluded but not rejected are approved too: panels pay for work, not for
    agreement. Undecided workers are in no file.
    """

    def __init__(self, run: Run, verdicts: dict[UUID, WorkerDecision] | None = None) -> None:
        self.run = run
        # Assigning to the name of a cached property fills its cache.
        if verdicts is not None:
            self.verdicts = verdicts
        self.version = run.version_id
        self.of_rows = Counter()

    @cached_property
    def verdicts(self) -> dict[UUID, WorkerDecision]:
        """Current decision (accept, look again or exclude) by public id of the worker."""
        return load_current_verdicts(self.run)

    @cached_property
    def people(self) -> list[PanelSubmission]:  # type: ignore[override]
        """Workers of the version by name, as the payment pages list them."""
        return load_submissions_with_decisions(self.run.version)

    @property
    def n_approved(self) -> int:
        """Number of workers to approve for payment."""
        return sum(not person.rejected for person in self.decided)

    @property
    def n_paid_but_left_out(self) -> int:
        """Number of workers approved for payment and excluded from later grades."""
        return sum(
            self._find_verdict_kind(person) == "exclude" and not person.rejected
            for person in self.decided
        )

    @property
    def n_rejected(self) -> int:
        """Number of workers to reject at the panel."""
        return sum(person.rejected for person in self.decided)

    @property
    def n_again(self) -> int:
        """Number of workers with the decision "look again"."""
        return self._count_undecided_by_panel("look")

    @property
    def n_undecided(self) -> int:
        """Number of workers without any decision."""
        return self._count_undecided_by_panel("")

    @cached_property
    def n_outside(self) -> int:
        """Number of undecided workers in Mechanical Turk batches who are not in the run.

        The run excluded them, or their answers were imported later.
        """
        status = {file.pk: find_status_column(file.header) for file in self.batches}
        if not status:
            return 0
        rows = PanelRow.objects.filter(file__in=self.batches, submission__withdrawn_at=None)
        outside = rows.exclude(submission__worker__in=_select_grades(self.run).values("worker"))
        columns = outside.values_list("file", "cells", "submission__worker__public_id")
        decided = {person.worker for person in self.decided}
        return len(
            {
                worker
                for file, cells, worker in columns.iterator()
                if worker not in decided and not was_assignment_settled(cells, status[file])
            }
        )

    def build_decision_table(self) -> Table:
        """Return the table of all current decisions of the run, "look again" included."""
        rows = (
            _build_decision_row(person, self.verdicts[person.worker])
            for person in self.people
            if person.worker in self.verdicts
        )
        return Table(DECISIONS, rows)

    def _find_verdict(self, person: PanelSubmission) -> WorkerDecision | None:
        """Return a worker's current decision in the run; None without one."""
        return self.verdicts.get(person.worker)

    def _find_verdict_kind(self, person: PanelSubmission) -> str:
        """Return a worker's decision: "accept", "look" or "exclude"; "" without one."""
        verdict = self._find_verdict(person)
        return verdict.kind if verdict else ""

    def _count_undecided_by_panel(self, kind: str) -> int:
        """Return the number of workers with this decision and none for the panel."""
        return sum(
            self._find_verdict_kind(person) == kind for person in self.people if not person.decision
        )


def _select_grades(run: Run) -> QuerySet[WorkerGrade]:
    """Return the grades of the workers that the run did not exclude."""
    return WorkerGrade.objects.filter(VOTED, run=run)


def _build_decision_row(person: PanelSubmission, verdict: WorkerDecision) -> tuple[object, ...]:
    """Return a worker's row of the table of decisions; its columns are `DECISIONS`."""
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
