"""Submissions of a version with all evidence for a payment decision.

Each row has a suggested action, which decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotations.exchange.prolific import CATEGORIES, describe_status
from annotations.ledger.appeals import filter_appealed, has_worker_page
from annotations.ledger.bonuses import Payment, load_payments
from annotations.ledger.decisions import load_decisions_where
from annotations.ledger.parts import load_current_parts
from annotations.models import (
    Appeal,
    AppealAnswer,
    BonusPayment,
    Decision,
    PanelFile,
    PanelStatus,
    QuestionSetVersion,
    Submission,
)
from annotations.panels.people import PanelSubmission
from annotations.web.numbers import Numbers, TableCounts, load_table_counts
from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.grading.alarms.report.marks import Mark, read_all_marks
from evaluation.grading.facts.report import FactAgreement
from evaluation.grading.results.report.evidence import (
    WorkerSignals,
    query_counted_answers,
    read_signals,
)
from evaluation.grading.results.report.workers import LOWEST
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.payments.storage.evidence import Evidence, collect_evidence, load_times_on_task
from evaluation.payments.storage.rules import Suggestion, suggest_action
from evaluation.runs.raw_scores import RawScore, find_grading_run, load_worker_scores

OPEN, APPROVED, REJECTED = "open", "approve", "reject"
ACCEPTED, EXCLUDED = "accept", "exclude"
DECIDED = {
    OPEN: "Nothing decided",
    ACCEPTED: "Accepted",
    EXCLUDED: "Excluded from grades, paid",
    REJECTED: "Rejected",
    APPROVED: "Approved: accepted, or excluded and paid",
}
"""Decisions about a worker; `APPROVED` is `ACCEPTED` or `EXCLUDED`."""
COUNTED = (OPEN, APPROVED, REJECTED, EXCLUDED)
NO_STATUS = "unknown"
FAILED_CHECKS = "failed_checks"
ENDED = {
    Submission.State.SUBMITTED.value: "Handed in",
    FAILED_CHECKS: "Handed in, failed the attention checks",
    Submission.State.SCREENED_OUT.value: "Did not pass the practice",
}
"""How a survey ended: a state of the submission, or `FAILED_CHECKS` for a submitted one."""
WAITING, ANY = "waiting", "any"
APPEALS = {WAITING: "An answer is waited for", ANY: "Wrote back"}

OPTIONAL_RECORDS = ("payments", "decisions", "signals", "batches")
"""Kinds of records that many versions lack; one query finds which exist, and saves the others."""


def build_decision_condition(kind: str) -> Q:
    """Return the query condition that a submission has a decision, a key of `DECIDED`."""
    if kind == ACCEPTED:
        return Q(decided=APPROVED) & ~Q(verdict=EXCLUDED)
    if kind == EXCLUDED:
        return Q(decided=APPROVED, verdict=EXCLUDED)
    return Q(decided=kind)


Rows = QuerySet[Any, Any]
Log = Mapping[int, Sequence[Decision]]
DECIDERS = ("decided_by", "appeal__noted_by", "appeal__answer__answered_by")
"""Relations that are loaded with each decision of the log."""


@dataclass(frozen=True, slots=True)
class PaymentRow:
    """A submission of the payment list, with all evidence for a decision.

    Attributes
    ----------
    score : None if no run graded the worker. seconds : from consent to the end; None if unknown.
    evidence : evidence by category of rejection. marks : alarms and notices that name the worker.
    signals, facts : for display only; suggestions ignore them.
    status : status on the panel, "" if unknown.
    log : all decisions, also those taken back, oldest first.
    part : partial payment that is neither failed nor cancelled. run : run that graded the worker.
    """

    submission: Submission
    score: RawScore | None
    seconds: float | None
    evidence: tuple[Evidence, ...]
    marks: tuple[Mark, ...]
    signals: WorkerSignals | None
    status: str
    log: tuple[Decision, ...]
    suggestion: Suggestion
    part: Payment | None = None
    run: Run | None = None

    @property
    def name(self) -> str:
        """External id of the worker, usually the panel's."""
        return self.submission.worker.external_id

    @property
    def facts(self) -> Message | None:
        """Message with the number of stated facts that contradict the crowd; None without any."""
        if self.score is None:
            return None
        counts = (self.score.fact_questions, self.score.contradicted)
        return FactAgreement(None, Estimate(None), *counts).summary

    @property
    def status_said(self) -> str:
        """Label of the submission's status on the panel, such as "Approved"."""
        return describe_status(self.status)

    @property
    def minutes(self) -> float | None:
        """Time that the worker spent on the survey, in minutes; None if unknown."""
        return None if self.seconds is None else self.seconds / 60

    @property
    def decision(self) -> Decision | None:
        """Newest payment decision about the submission; None without any."""
        return self.log[-1] if self.log else None

    @property
    def appeal(self) -> Appeal | None:
        """Newest appeal of the worker, with its answer; None without any."""
        # A reverse one-to-one relation without a row raises, so hasattr tests for it.
        appeals: list[Appeal] = [row.appeal for row in self.log if hasattr(row, "appeal")]
        return max(appeals, key=lambda appeal: appeal.pk, default=None)

    @property
    def refused_for(self) -> str:
        """Label of the category of a rejection; "" if the work is not rejected."""
        category = self.decision.category if self.decision else ""
        return CATEGORIES.get(category, category)

    @property
    def answer(self) -> AppealAnswer | None:
        """Answer to the newest appeal; None without any."""
        return getattr(self.appeal, "answer", None)

    @property
    def is_waiting(self) -> bool:
        """Whether an appeal against the current rejection has no answer yet."""
        if self.appeal is None or self.decision is None or self.answer is not None:
            return False
        return self.appeal.decision_id == self.decision.pk

    @property
    def has_page(self) -> bool:
        """Whether the worker has a page here that shows the decision and appeal answer."""
        return has_worker_page(self.submission)

    @property
    def may_note(self) -> bool:
        """Whether the user can enter an appeal received elsewhere, for a rejection without one."""
        if self.decision is None or self.decision.kind != REJECTED:
            return False
        if self.submission.withdrawn_at:
            return False
        is_noted = self.appeal is not None and self.appeal.decision_id == self.decision.pk
        return not is_noted and not self.has_page

    @property
    def is_excluded(self) -> bool:
        """Whether the work is paid although later grades exclude the worker."""
        is_approved = self.decision is not None and self.decision.kind == APPROVED
        return is_approved and self.submission.verdict == EXCLUDED  # type: ignore[attr-defined]

    @property
    def decided_as(self) -> str:
        """Label of the decision, such as "Accepted"; "Nothing decided" without one."""
        if not self.is_decided or self.decision is None:
            return DECIDED[OPEN]
        if self.decision.kind == REJECTED:
            return DECIDED[REJECTED]
        return DECIDED[EXCLUDED if self.is_excluded else ACCEPTED]

    @property
    def is_decided(self) -> bool:
        """Whether the newest decision approves or rejects."""
        return self.decision is not None and self.decision.kind != OPEN


@dataclass
class PaymentRecords:
    """Records of a version's workers and payments, each loaded once on first use.

    Attributes
    ----------
    everybody : `load_panel_submissions` of all submissions, if the caller has read them.
    only : key of the single submission to load records for; None for all.
    """

    version: QuestionSetVersion
    everybody: Sequence[PanelSubmission] | None = None
    only: int | None = None

    @cached_property
    def payments(self) -> list[Payment]:
        """Bonuses and partial payments."""
        if not self.has_records("payments"):
            return []
        return load_payments(self.version, None if self.only is None else [self.only])

    @cached_property
    def run(self) -> Run | None:
        """Official grading run of the version; None without one."""
        return find_grading_run(self.version)

    @cached_property
    def existing(self) -> Mapping[str, bool]:
        """Whether any record of each kind in `OPTIONAL_RECORDS` exists."""
        return dict(zip(OPTIONAL_RECORDS, map(bool, self.numbers["there"][0]), strict=True))

    @cached_property
    def marks(self) -> Mapping[Any, tuple[Mark, ...]]:
        """Alarms and notices by public id of the worker."""
        return read_all_marks(self.run) if self.run else {}

    @cached_property
    def n_ranked(self) -> int:
        """Number of workers with a rank in the official run."""
        return int(getattr(self.run, "n_ranked", 0))

    @cached_property
    def numbers(self) -> Mapping[str, list[Numbers]]:
        """Counts of the version and its question set; one query."""
        submissions = Submission.objects.filter(version=self.version)
        newest_decision = Decision.objects.filter(submission=OuterRef("pk")).order_by("-pk")
        with_decision = submissions.annotate(
            decided=Coalesce(Subquery(newest_decision.values("kind")[:1]), Value(OPEN)),
            verdict=WorkerVerdict.build_submission_verdict(self.version),
        )
        ended = (
            Count("pk", filter=Q(state=Submission.State.SUBMITTED, failed_checks=True)),
            Count("pk", filter=Q(state=Submission.State.SCREENED_OUT)),
        )
        waiting = filter_appealed(submissions, unanswered=True)
        existing = (
            Count("pk", filter=Exists(rows))
            for rows in self._select_optional_records({"submission__version": self.version})
        )
        versions = QuestionSetVersion.objects.filter(question_set=self.version.question_set_id)
        return load_table_counts(
            {
                "decided": TableCounts(
                    with_decision,
                    tuple(Count("pk", filter=build_decision_condition(kind)) for kind in COUNTED),
                ),
                "ended": TableCounts(submissions, ended),
                "waiting": TableCounts(waiting, (Count("pk"),)),
                "there": TableCounts(versions.filter(pk=self.version.pk), tuple(existing)),
                "versions": TableCounts(versions, (), by=("number",)),
            }
        )

    def has_records(self, kind: str) -> bool:
        """Return whether any record of a kind in `OPTIONAL_RECORDS` exists."""
        return self.existing[kind]

    def _select_optional_records(self, scope: Mapping[str, Any]) -> tuple[QuerySet[Any, Any], ...]:
        """Return a queryset of the rows of each kind in `OPTIONAL_RECORDS`.

        `scope` filters payments and decisions.
        """
        return (
            BonusPayment.objects.filter(**scope),
            Decision.objects.filter(**scope),
            query_counted_answers(self._run_for_signals),
            PanelFile.objects.filter(version=self.version),
        )

    @property
    def versions(self) -> list[int]:
        """Numbers of the versions of the question set, newest first."""
        return sorted((number for (number,) in self.numbers["versions"]), reverse=True)

    @property
    def _run_for_signals(self) -> Run:
        """Official run, else an unsaved one; signals need only the version of a run."""
        return self.run or Run(version=self.version)

    @property
    def n_waiting(self) -> int:
        """Number of workers with an unanswered appeal."""
        return self.numbers["waiting"][0][0]

    def select_submissions(self) -> Rows:
        """Return all submissions with the columns that filters and orders use.

        The columns are `score`, `contrast`, `answers`, `status`, `decided`, `verdict` and `name`.
        """
        same_submission = {"submission": OuterRef("pk")}
        decided = Decision.objects.filter(**same_submission).order_by("-pk").values("kind")[:1]
        status = PanelStatus.objects.filter(**same_submission).order_by("-pk").values("status")[:1]
        # No row has the key 0: without a run the columns are empty.
        grade = WorkerGrade.objects.filter(
            run=self.run.pk if self.run else 0, worker=OuterRef("worker")
        )
        rows: Rows = Submission.objects.filter(version=self.version)
        return rows.select_related("worker", "version__question_set").annotate(
            score=Subquery(grade.values("leave_one_out")[:1]),
            contrast=Subquery(grade.values("contrast")[:1]),
            answers=Coalesce(Subquery(grade.values("n_answers")[:1]), Value(0)),
            status=Subquery(status),
            decided=Coalesce(Subquery(decided), Value(OPEN)),
            verdict=WorkerVerdict.build_submission_verdict(self.version),
            name=F("worker__external_id"),
        )

    def build_review_order(self) -> Case:
        """Return the database expression that ranks submissions by need for review, from 0.

        Undecided ones come first: failed checks, workers named in an alarm or a notice, then the
        lowest quarter of the ranks, then all others. Work that was not handed in follows, and
        decided work is last.
        """
        grades = WorkerGrade.objects.filter(run=self.run.pk if self.run else 0)
        lowest = grades.filter(worker=OuterRef("worker"), rank_low__gt=(1 - LOWEST) * self.n_ranked)
        places = (
            ~Q(decided=OPEN),
            ~Q(state=Submission.State.SUBMITTED) | Q(withdrawn_at__isnull=False),
            Q(failed_checks=True),
            Q(worker__public_id__in=list(self.marks)),
            Q(Exists(lowest)),
        )
        # The first condition that holds counts, so decided and unfinished work comes first here.
        numbers = (5, 4, 0, 1, 2)
        whens = (
            When(place, then=Value(number)) for place, number in zip(places, numbers, strict=True)
        )
        return Case(*whens, default=Value(3), output_field=IntegerField())

    def load_row(self, public_id: UUID, *, in_full: bool = False) -> PaymentRow | None:
        """Return one submission with all evidence for a decision; None for an unknown id.

        From then on the object loads records of this submission only, and skips kinds of records
        that it lacks.
        """
        optional = self._select_optional_records({"submission": OuterRef("pk")})
        existing = {
            f"has_{kind}": Exists(rows)
            for kind, rows in zip(OPTIONAL_RECORDS, optional, strict=True)
        }
        submission = (
            self.select_submissions().annotate(**existing).filter(public_id=public_id).first()
        )
        if submission is None:
            return None
        # The version object of the caller has its relations loaded already.
        submission.version = self.version
        self.only = submission.pk
        # Assigned over the cached property, which would need a query.
        self.existing = {kind: getattr(submission, f"has_{kind}") for kind in OPTIONAL_RECORDS}
        return self.load_rows([submission], in_full=in_full)[0]

    def load_log(self, submissions: Iterable[int], more: Q | None = None) -> Log:
        """Return the decisions on the submissions with these keys, by submission key, oldest first.

        `more` adds the decisions that meet a further condition.
        """
        if not self.has_records("decisions"):
            return {}
        condition = Q(submission__in=list(submissions))
        return load_decisions_where(condition | more if more else condition, *DECIDERS)

    def load_rows(
        self, submissions: Sequence[Any], *, in_full: bool = False, log: Log | None = None
    ) -> list[PaymentRow]:
        """Return a row with all evidence for each submission of `select_submissions`, in order.

        `log` has their decisions, if the caller has read them.
        """
        keys = [submission.pk for submission in submissions]
        workers = [submission.worker.public_id for submission in submissions]
        scores = load_worker_scores(self.run, [submission.worker_id for submission in submissions])
        states = {submission.pk: submission.state for submission in submissions}
        evidence = collect_evidence(self.version, keys, self.times, states)
        log = self.load_log(keys) if log is None else log
        signals: Mapping[Any, WorkerSignals] = {}
        if self.has_records("signals"):
            signals = read_signals(self._run_for_signals, workers, in_full=in_full)
        return [
            PaymentRow(
                submission=submission,
                score=scores.get(submission.worker_id),
                seconds=self.times.get(submission.pk),
                evidence=tuple(evidence[submission.pk]),
                marks=self.marks.get(submission.worker.public_id, ()),
                signals=signals.get(submission.worker.public_id),
                status=submission.status or "",
                log=tuple(log.get(submission.pk, ())),
                suggestion=self._suggest_for_submission(submission, evidence, scores),
                part=self.parts.get(submission.pk),
                run=self.run,
            )
            for submission in submissions
        ]

    def suggest_actions(self, submissions: Iterable[Any] | None = None) -> dict[int, Suggestion]:
        """Return the suggested action for each submission of the version, by key.

        `submissions` are all of `select_submissions`, if the caller has read them.
        """
        submissions = list(self.select_submissions()) if submissions is None else list(submissions)
        scores = load_worker_scores(self.run)
        states = {submission.pk: submission.state for submission in submissions}
        evidence = collect_evidence(self.version, times=self.times, states=states)
        return {
            submission.pk: self._suggest_for_submission(submission, evidence, scores)
            for submission in submissions
        }

    @cached_property
    def times(self) -> Mapping[int, float]:
        """Time on task in seconds by submission key; unknown times are left out.

        Of all workers even for a page of a few, because "too fast" depends on the median of all.
        """
        if self.everybody is None:
            return load_times_on_task(self.version)
        seconds_by_submission = {person.key: person.seconds for person in self.everybody}
        return {
            key: seconds for key, seconds in seconds_by_submission.items() if seconds is not None
        }

    @cached_property
    def parts(self) -> Mapping[int, Payment]:
        """Partial payments that are neither failed nor cancelled, by submission key."""
        return load_current_parts(self.version, self.payments)

    @property
    def ended(self) -> dict[str, int]:
        """Numbers of workers who failed the attention checks, and who failed the practice."""
        failed, screened = self.numbers["ended"][0]
        return {"failed_checks": failed, "screened_out": screened}

    def count_decisions(self) -> dict[str, int]:
        """Return the number of submissions by decision, the keys of `DECIDED`."""
        counts = dict(zip(COUNTED, self.numbers["decided"][0], strict=True))
        return counts | {ACCEPTED: counts[APPROVED] - counts[EXCLUDED]}

    @property
    def n_all(self) -> int:
        """Number of submissions of the version."""
        counts = self.count_decisions()
        return counts[OPEN] + counts[APPROVED] + counts[REJECTED]

    def _suggest_for_submission(
        self,
        submission: Any,
        evidence: Mapping[int, list[Evidence]],
        scores: Mapping[int, RawScore],
    ) -> Suggestion:
        """Return the suggested payment action for a submission, from loaded records."""
        return suggest_action(
            *(submission, submission.status or "", evidence.get(submission.pk, ())),
            *(self.marks.get(submission.worker.public_id, ()), scores.get(submission.worker_id)),
            *(self.n_ranked, self.run is not None),
            part=self.parts.get(submission.pk),
        )
