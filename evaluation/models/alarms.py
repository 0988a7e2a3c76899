"""Alarms, facts, and decisions about workers of a run.

Alarms of runs, and their reviews by users.

Facts on which workers agree, and the facts that each answer states.

Facts are shown beside the grades and never part of one. Runs without facts have no rows.

Decisions about workers of a run; rows are added and never changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from annotations.exchange.ids import clean_id
from annotations.models import (
    VIEWERS,
    Access,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Record,
    Response,
    Worker,
)
from annotations.models.base import AppendOnly
from evaluation.models.grades import RunResult, WorkerGrade
from evaluation.models.language_models import LLMResponse
from evaluation.models.runs import Run


class Alarm(RunResult):
    """An alarm of a run; platform/docs/alarms.md lists the kinds and their statistics.

    The message is a code with values (`Message`), in runs older than codes a sentence; it names no
    worker. `workers` and `questions` are those that the alarm is about, none for the whole crowd.
    `evidence` lists answers to compare, a dictionary each: `question`, `left`
    and `right` (ids of a Question and of Responses; right may be null) and `llm_response` (of an
    LLMResponse, or null); an answer that was withdrawn since is no longer there.

    In a run with remedies `outcome` is the effect of the remedy, also a code with values.
    `answered` states that a remedy of this run settles the alarm, which then counts as resolved
    unless a user opens it again.
    """

    class State(models.TextChoices):
        """Review state of an alarm; the newest `AlarmReview` has the user, time and reason."""

        OPEN = "open", "Open"
        EXAMINED = "examined", "Examined"
        REMEDIED = "remedied", "Remedied"
        DISMISSED = "dismissed", "Dismissed"

    class Severity(models.TextChoices):
        """Severity of an alarm: how much it affects the trust in the run."""

        ALARM = "alarm", "Alarm"
        NOTICE = "notice", "Notice"
        INFO = "info", "Information"

    # No index of its own: the unique constraint below begins with the run. The same holds for the
    # other keys with `db_index=False`: a constraint or an index of their table begins with them.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="alarms", db_index=False)
    place = models.PositiveIntegerField(help_text="From 0, alarms first.")
    kind = models.CharField(max_length=30)
    severity = models.CharField(max_length=10, choices=Severity.choices)
    statistic = models.FloatField(null=True)
    threshold = models.FloatField(null=True)
    message = models.JSONField()
    workers = models.ManyToManyField(Worker, related_name="alarms", blank=True)
    questions = models.ManyToManyField(Question, related_name="alarms", blank=True)
    evidence = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    outcome = models.JSONField(null=True, blank=True)
    answered = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["open", "examined", "remedied", "dismissed"]),
                name="alarm_state_is_known",
            ),
            models.UniqueConstraint(fields=["run", "place"], name="alarm_place_once"),
            models.CheckConstraint(
                condition=Q(severity__in=["alarm", "notice", "info"]), name="alarm_severity"
            ),
        ]
        ordering = ["run", "place"]

    def __str__(self) -> str:
        return f"{self.kind} in {self.run_id}"


# Alarms that no longer count against the grades: dismissed, or answered by a remedy of their run.
SETTLED = Q(state=Alarm.State.DISMISSED) | (Q(answered=True) & ~Q(state=Alarm.State.OPEN))


class AlarmReview(Record):
    """A user's review of an alarm, with the reason; the newest one sets the alarm's state.

    `remedied_by` is the run with a remedy that the review refers to; None once it is deleted.
    """

    access = Access(question_set="alarm__run__version__question_set", readers=VIEWERS)

    alarm = models.ForeignKey(
        Alarm, on_delete=models.CASCADE, related_name="reviews", db_index=False
    )
    state = models.CharField(max_length=10, choices=Alarm.State.choices)
    note = models.TextField(blank=True)
    remedied_by = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="alarm_reviews"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["open", "examined", "remedied", "dismissed"]),
                name="alarm_review_state_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="dismissed") | ~Q(note=""),
                name="alarm_dismissed_with_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["alarm", "-id"], name="alarm_review_newest")]

    def __str__(self) -> str:
        return f"{self.state}: {self.alarm}"


class CrowdFact(RunResult):
    """A value (such as a year) that workers state in answers to a question; a row of facts.csv.

    Of the `of` workers who state a value of this kind, `mentions` state this one. `place` is the
    row number, from 0.
    """

    class State(models.TextChoices):
        """How far the workers agree on a value."""

        AGREED = "agreed"
        CONTESTED = "contested"
        OPEN = "open"
        TOO_FEW = "too_few", "too few"

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="crowd_facts", db_index=False
    )
    place = models.PositiveIntegerField()
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="crowd_facts", db_index=False
    )
    slot = models.TextField()
    value = models.TextField()
    mentions = models.PositiveIntegerField()
    of = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices)

    class Meta:
        verbose_name = "fact of a crowd"
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="crowd_fact_once"),
            models.CheckConstraint(
                condition=Q(mentions__lte=F("of")), name="crowd_fact_mentions_of_all"
            ),
        ]
        indexes = [models.Index(fields=["question", "run"], name="crowd_fact_of_question")]

    def __str__(self) -> str:
        return f"{self.value} in {self.run_id}"


class AnswerFact(RunResult):
    """A value that one answer states for a kind of fact; one row of answer_facts.csv.

    `of` other workers state the slot, `mentions` of them the same value. `crowd` is the agreed
    value that the answer agrees with, contradicts or lacks, and `n_crowd` the number of others who
    state it; "" and 0 without one. `spans` are the (start, end) of the characters that state the
    fact; empty for a missing fact, whose `value` is the crowd's. `place` is the row, from 0.
    """

    class Verdict(models.TextChoices):
        """How an answer's value compares with those of the other workers."""

        AGREES = "agrees"
        CONTRADICTS = "contradicts", "contradicts the crowd"
        CONTESTED = "contested"
        MISSING = "missing", "not said"
        EXTRA = "extra", "said besides"
        OPEN = "open"
        TOO_FEW = "too_few", "too few say so"

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="answer_facts", db_index=False
    )
    place = models.PositiveIntegerField()
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answer_facts")
    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, null=True, related_name="facts", db_index=False
    )
    llm_response = models.ForeignKey(
        LLMResponse, on_delete=models.CASCADE, null=True, related_name="facts", db_index=False
    )
    slot = models.TextField()
    value = models.TextField()
    verdict = models.CharField(max_length=11, choices=Verdict.choices)
    mentions = models.PositiveIntegerField()
    of = models.PositiveIntegerField()
    crowd = models.TextField(blank=True)
    n_crowd = models.PositiveIntegerField(default=0)
    spans = models.JSONField(default=list)

    class Meta:
        verbose_name = "fact of an answer"
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="answer_fact_once"),
            models.CheckConstraint(
                condition=Q(response__isnull=True) ^ Q(llm_response__isnull=True),
                name="answer_fact_of_one_answer",
            ),
        ]
        indexes = [
            models.Index(fields=["response", "run"], name="answer_fact_of_response"),
            models.Index(fields=["llm_response", "run"], name="answer_fact_of_reply"),
        ]

    def __str__(self) -> str:
        return f"{self.value} in {self.run_id}: {self.verdict}"


class WorkerVerdict(AppendOnly):
    """A decision about a worker, or the withdrawal of one.

    The newest row of a worker that is no `undo`, and that none takes back, is in force. It decides
    whether the worker votes in later runs of the question set. The panel gets a `Decision` about
    the worker's submission: `evaluation.triage.storage` writes both in one transaction, wherever
    the decision is made, so that a worker has one decision. Both outlive every run: `run` is None
    once the run is deleted, or if no run had graded the worker. The verdict then belongs to every
    run of the question set that graded the worker.

    `category` is a code of `evaluation.triage.messages`, `reason` a text of the user. `rejects`
    means that the work is rejected on the panel as well. `applied_in` are the runs that exclude the
    worker because of this row. `together` is a common id of all rows added by one action on several
    workers, and of those taking them back together; None for a decision about one worker.
    """

    class Kind(models.TextChoices):
        """Kind of decision about a worker."""

        ACCEPT = "accept", "Accepted"
        LOOK = "look", "Look again"
        EXCLUDE = "exclude", "Excluded"
        UNDO = "undo", "Taken back"

    access = Access(question_set="question_set", readers=VIEWERS)

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="verdicts", editable=False
    )
    run = models.ForeignKey(
        Run,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="verdicts",
        db_index=False,
    )
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="verdicts")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    category = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    rejects = models.BooleanField(default=False)
    takes_back = models.OneToOneField(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="taken_back"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="worker_verdicts"
    )
    together = models.UUIDField(null=True, blank=True, editable=False)
    applied_in = models.ManyToManyField(Run, related_name="applied_verdicts", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["accept", "look", "exclude", "undo"]),
                name="verdict_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(kind="undo", takes_back__isnull=False)
                | (~Q(kind="undo") & Q(takes_back__isnull=True)),
                name="verdict_takes_back_or_decides",
            ),
            models.CheckConstraint(
                condition=~Q(kind="exclude") | ~Q(category=""),
                name="verdict_against_a_worker_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(rejects=False) | Q(kind="exclude"),
                name="verdict_rejects_who_is_excluded",
            ),
        ]
        indexes = [models.Index(fields=["run", "worker", "-id"], name="verdict_newest")]

    @classmethod
    def select_for_version(
        cls, version: QuestionSetVersion | int
    ) -> models.QuerySet[WorkerVerdict]:
        """Return a queryset of the decisions in runs of a version, and on its set without a run."""
        key = version if isinstance(version, int) else version.pk
        of_set = QuestionSetVersion.objects.filter(pk=key).values("question_set")
        rows = cls.objects.filter(Q(run__version=key) | Q(run=None), question_set__in=of_set)
        return rows.order_by("pk")

    @classmethod
    def build_submission_verdict(cls, version: QuestionSetVersion) -> Coalesce:
        """Return the database expression of a submission's current decision, "" for none.

        It is for queries of a version's submissions.
        """
        rows = cls.select_for_version(version).filter(
            worker=OuterRef("worker"), takes_back=None, taken_back=None
        )
        # Withdrawals, and decisions that were withdrawn, are filtered out above.
        return Coalesce(Subquery(rows.order_by("-pk").values("kind")[:1]), Value(""))

    @classmethod
    def select_for_run(cls, run: Run) -> models.QuerySet[WorkerVerdict]:
        """Return a queryset of a version's decisions about the workers graded by a run.

        A worker has one decision, whichever run of the version showed the grades.
        """
        graded = WorkerGrade.objects.filter(run=run).values("worker")
        return cls.select_for_version(run.version_id).filter(worker__in=graded)

    @classmethod
    def select_current(cls, run: Run) -> models.QuerySet[WorkerVerdict]:
        """Return a queryset of the decisions of `select_for_run` that are not withdrawn."""
        return cls.select_for_run(run).filter(takes_back=None, taken_back=None)

    @classmethod
    def list_exclusion_verdicts(cls, question_set: QuestionSet) -> list[WorkerVerdict]:
        """Return the current decisions that exclude workers from a set, oldest first.

        A worker's newest row that none takes back counts, whichever run of the set it was made in.
        """
        # Oldest first: of each worker the newest row replaces the others in the dictionary.
        rows = cls.objects.filter(question_set=question_set, takes_back=None, taken_back=None)
        newest = {
            row.worker_id: row for row in rows.select_related("worker", "decided_by").order_by("pk")
        }
        return [row for row in newest.values() if row.kind == cls.Kind.EXCLUDE]

    @classmethod
    def record_exclusions(cls, run: Run) -> None:
        """Record the decisions behind the workers that a run excludes, for the run's pages.

        The run's pages show them with reason, author and time. Workers that the options name
        without a decision get no record.
        """
        named = run.parameters.get("exclude_workers") or ()
        if not named:
            return
        # The option accepts ids of panels and public ids of this site.
        ids = {clean_id(one) for one in named}
        of_set = cls.list_exclusion_verdicts(run.version.question_set)
        cls.record_applied(
            run,
            [
                verdict
                for verdict in of_set
                if {verdict.worker.external_id, str(verdict.worker.public_id)} & ids
            ],
        )

    @classmethod
    def record_applied(cls, run: Run, verdicts: Sequence[WorkerVerdict]) -> None:
        """Record that a run applies these decisions; repeating has no effect."""
        through = cls.applied_in.through
        through.objects.bulk_create(
            [through(workerverdict_id=verdict.pk, run_id=run.pk) for verdict in verdicts],
            ignore_conflicts=True,
        )

    @classmethod
    def build_author_verdict(cls) -> Coalesce:
        """Return the database expression of the current decision about an answer's author.

        It is for queries of rows with a field `response`, which may be None.
        """
        counting = cls.objects.filter(
            worker=OuterRef("response__submission__worker"),
            question_set=OuterRef("response__submission__version__question_set"),
            takes_back=None,
            taken_back=None,
        )
        return Coalesce(Subquery(counting.order_by("-pk").values("kind")[:1]), Value(""))

    def __str__(self) -> str:
        return f"{self.kind}: {self.worker}"
