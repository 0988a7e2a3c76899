"""The people of a version at the payment desk: searched, filtered, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import django_filters
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotations.exchange.prolific import CATEGORIES, status_said
from annotations.ledger.appealing import has_page, newest_appeals, with_appeal
from annotations.ledger.bonuses import Payment
from annotations.ledger.deciding import newest_of
from annotations.ledger.parts import standing_parts
from annotations.models import (
    Appeal,
    AppealAnswer,
    Decision,
    PanelStatus,
    QuestionSetVersion,
    Submission,
)
from annotations.web.filtering import Column, ListFilter, Order, SearchFilter, both_ways
from annotations.web.paging import Keyset
from evaluation.models import Run, WorkerGrade
from evaluation.paying.evidence import Evidence, evidence_of, seconds_of
from evaluation.paying.scores import RawScore, run_of, scores_of
from evaluation.reports.alarms.marks import Mark, all_marks
from evaluation.reports.facts.standing import FactStanding
from evaluation.reports.paying.suggestions import ACTIONS, Suggestion, suggestion
from evaluation.reports.signals import WorkerSignals, signals_of
from evaluation.reports.values import Estimate
from evaluation.words.message import Message

OPEN, APPROVED, REJECTED = "open", "approve", "reject"
DECIDED = {OPEN: "Nothing decided", APPROVED: "Approved", REJECTED: "Rejected"}
NO_STATUS = "unknown"
FAILED_CHECKS = "failed_checks"
ENDED = {
    Submission.State.SUBMITTED.value: "Handed in",
    FAILED_CHECKS: "Handed in, failed the attention checks",
    Submission.State.SCREENED_OUT.value: "Did not pass the practice",
}
"""How somebody's way ended: a state, or handed in with the code of who failed the checks."""
WAITING, ANY = "waiting", "any"
APPEALS = {WAITING: "An answer is waited for", ANY: "Wrote back"}

Rows = QuerySet[Any, Any]


@dataclass(frozen=True, slots=True)
class PayRow:
    """A submission with all that speaks for a decision.

    Attributes
    ----------
    score : None where no run graded the worker. seconds : from consent to the end, None unknown.
    evidence : for reasons that a panel takes. marks : alarms and notices that name the worker.
    signals, facts : shown, and in no suggestion. status : where it stands on the panel, "" unknown.
    decision : the newest row of the log, what was taken back too; None without any.
    appeal : what the worker wrote against their newest appealed rejection, with its answer.
    part : their part of the pay that is neither failed nor cancelled.
    """

    submission: Submission
    score: RawScore | None
    seconds: float | None
    evidence: tuple[Evidence, ...]
    marks: tuple[Mark, ...]
    signals: WorkerSignals | None
    status: str
    decision: Decision | None
    suggestion: Suggestion
    appeal: Appeal | None = None
    part: Payment | None = None

    @property
    def name(self) -> str:
        """The panel's id of the worker."""
        return self.submission.worker.external_id

    @property
    def facts(self) -> Message | None:
        """How many facts contradict the crowd, where any does."""
        if self.score is None:
            return None
        of = (self.score.fact_questions, self.score.contradicted)
        return FactStanding(None, Estimate(None), *of).in_short

    @property
    def status_said(self) -> str:
        """Where it stands on the panel, in words."""
        return status_said(self.status)

    @property
    def minutes(self) -> float | None:
        """How long it took, in minutes."""
        return None if self.seconds is None else self.seconds / 60

    @property
    def refused_for(self) -> str:
        """Why the work is rejected, as the panel's category in words; "" where it is not."""
        category = self.decision.category if self.decision else ""
        return CATEGORIES.get(category, category)

    @property
    def answer(self) -> AppealAnswer | None:
        """What the worker was answered to their appeal."""
        return getattr(self.appeal, "answer", None)

    @property
    def is_waiting(self) -> bool:
        """Whether the worker wrote against the rejection that counts, and nobody answered."""
        if self.appeal is None or self.decision is None or self.answer is not None:
            return False
        return self.appeal.decision_id == self.decision.pk

    @property
    def has_page(self) -> bool:
        """Whether the worker reads here what is decided and answered."""
        return has_page(self.submission)

    @property
    def may_note(self) -> bool:
        """Whether what the worker wrote elsewhere can be noted: rejected, and without a page."""
        about = self.submission
        if self.decision is None or self.decision.kind != REJECTED or about.withdrawn_at:
            return False
        noted = self.appeal is not None and self.appeal.decision_id == self.decision.pk
        return not noted and not self.has_page

    @property
    def is_decided(self) -> bool:
        """Whether a decision counts."""
        return self.decision is not None and self.decision.kind != OPEN


@dataclass
class Desk:
    """What is known of the people of a version; each part is asked for once, when needed."""

    version: QuestionSetVersion

    @cached_property
    def run(self) -> Run | None:
        """The grading that counts for the version; None without one."""
        return run_of(self.version)

    @cached_property
    def marks(self) -> Mapping[Any, tuple[Mark, ...]]:
        """Alarms and notices by the public ids of the workers they name."""
        return all_marks(self.run) if self.run else {}

    @cached_property
    def n_ranked(self) -> int:
        """People with a rank."""
        if self.run is None:
            return 0
        return WorkerGrade.objects.filter(run=self.run, rank__isnull=False).count()

    def people(self) -> Rows:
        """Return everybody, with `score`, `answers`, `status` and `decided` for filters, orders."""
        of = {"submission": OuterRef("pk")}
        decided = Decision.objects.filter(**of).order_by("-pk").values("kind")[:1]
        status = PanelStatus.objects.filter(**of).order_by("-pk").values("status")[:1]
        grade = WorkerGrade.objects.filter(
            run=self.run.pk if self.run else 0, worker=OuterRef("worker")
        )
        rows: Rows = Submission.objects.filter(version=self.version)
        return rows.select_related("worker", "version__question_set").annotate(
            score=Subquery(grade.values("leave_one_out")[:1]),
            answers=Coalesce(Subquery(grade.values("n_answers")[:1]), Value(0)),
            status=Subquery(status),
            decided=Coalesce(Subquery(decided), Value(OPEN)),
            name=F("worker__external_id"),
        )

    def rows(self, submissions: Sequence[Any], *, in_full: bool = False) -> list[PayRow]:
        """Return submissions of `people` with all that speaks for a decision, in their order."""
        keys = [one.pk for one in submissions]
        workers = [one.worker.public_id for one in submissions]
        scores = scores_of(self.run, [one.worker_id for one in submissions])
        evidence = evidence_of(self.version, keys, self.times)
        decisions = newest_of(keys)
        appeals = newest_appeals(keys)
        # Signals hang on the version alone; without a run there is none to take it from.
        of_version = self.run or Run(version=self.version)
        signals = signals_of(of_version, workers, in_full=in_full)
        return [
            PayRow(
                submission=one,
                score=scores.get(one.worker_id),
                seconds=self.times.get(one.pk),
                evidence=tuple(evidence[one.pk]),
                marks=self.marks.get(one.worker.public_id, ()),
                signals=signals.get(one.worker.public_id),
                status=one.status or "",
                decision=decisions.get(one.pk),
                suggestion=self._suggestion(one, evidence, scores),
                appeal=appeals.get(one.pk),
                part=self.parts.get(one.pk),
            )
            for one in submissions
        ]

    def suggestions(self) -> dict[int, Suggestion]:
        """Return what could be done with everybody's submission, by its key."""
        scores = scores_of(self.run)
        evidence = evidence_of(self.version, times=self.times)
        return {one.pk: self._suggestion(one, evidence, scores) for one in self.people()}

    @cached_property
    def times(self) -> Mapping[int, float]:
        """How long everybody took, in seconds, by the submissions' keys; who is not there unknown.

        Of everybody also for a page of a few: whether somebody was fast hangs on all.
        """
        return seconds_of(self.version)

    @cached_property
    def parts(self) -> Mapping[int, Payment]:
        """Parts of the pay that are neither failed nor cancelled, by the submissions' keys."""
        return standing_parts(self.version)

    @cached_property
    def ended(self) -> dict[str, int]:
        """How many did not pass the practice, and how many handed in and failed the checks."""
        rows = Submission.objects.filter(version=self.version)
        failed = Q(state=Submission.State.SUBMITTED, failed_checks=True)
        screened = Q(state=Submission.State.SCREENED_OUT)
        return rows.aggregate(
            failed_checks=Count("pk", filter=failed), screened_out=Count("pk", filter=screened)
        )

    def counted(self) -> dict[str, int]:
        """Return how many are approved, rejected and undecided."""
        found = dict.fromkeys(DECIDED, 0)
        for kind in self.people().order_by().values_list("decided", flat=True):
            found[kind] += 1
        return found

    def _suggestion(
        self, one: Any, evidence: Mapping[int, list[Evidence]], scores: Mapping[int, RawScore]
    ) -> Suggestion:
        return suggestion(
            *(one, one.status or "", evidence.get(one.pk, ())),
            *(self.marks.get(one.worker.public_id, ()), scores.get(one.worker_id)),
            *(self.n_ranked, self.run is not None),
            part=self.parts.get(one.pk),
        )


class PayFilter(ListFilter):
    """Submissions by id, decision, suggestion and where they stand on the panel."""

    q = SearchFilter("worker__external_id", label="Part of the worker's id")
    decided = django_filters.ChoiceFilter(
        label="Decision", choices=list(DECIDED.items()), empty_label="Any"
    )
    suggested = django_filters.ChoiceFilter(
        method="by_suggestion",
        label="Suggested",
        choices=list(ACTIONS.items()),
        empty_label="Any",
    )
    status = django_filters.ChoiceFilter(
        method="by_status",
        label="On the panel",
        choices=[*PanelStatus.Status.choices, (NO_STATUS, "not known")],
        empty_label="Any",
    )
    ended = django_filters.ChoiceFilter(
        method="by_end", label="Ended", choices=list(ENDED.items()), empty_label="Any"
    )
    appeal = django_filters.ChoiceFilter(
        method="by_appeal", label="Appeal", choices=list(APPEALS.items()), empty_label="Any"
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        "worker": Order(
            Keyset("pay-a", ("name", "public_id"), texts=("name",)), "Worker's id, A to Z"
        ),
        "-worker": Order(
            Keyset("pay-z", ("-name", "public_id"), texts=("name",)), "Worker's id, Z to A"
        ),
        **both_ways("score", "Highest score first", "Lowest score first", may_be_empty=True),
        **both_ways("answers", "Most answers first", "Fewest answers first"),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Worker", "worker", "-worker"),
        Column("Suggested"),
        Column("Decision"),
        Column("Raw score", "score", "-score", number=True),
        Column("Answers", "answers", "-answers", number=True),
        Column("Minutes", number=True),
        Column("On the panel"),
        Column("Beside"),
    )

    class Meta(ListFilter.Meta):
        """Every filter is named above."""

        model = Submission
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any, desk: Desk) -> None:
        self.desk = desk
        super().__init__(data, desk.people())

    def by_suggestion(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep those for whom that is suggested."""
        found = self.desk.suggestions()
        return rows.filter(pk__in=[key for key, one in found.items() if one.action == value])

    def by_status(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep those that stand there on the panel."""
        return rows.filter(Q(status__isnull=True) if value == NO_STATUS else Q(status=value))

    def by_end(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep those whose way ended so."""
        if value == FAILED_CHECKS:
            return rows.filter(state=Submission.State.SUBMITTED, failed_checks=True)
        return rows.filter(state=value)

    def by_appeal(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep those who wrote against a rejection, or of these who waits for an answer."""
        return with_appeal(rows, waiting=value == WAITING)
