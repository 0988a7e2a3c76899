"""Alarms of runs, and their reviews by users."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models import VIEWERS, Access, Question, Record, Worker
from evaluation.models.grades import Result
from evaluation.models.runs import Run


class Alarm(Result):
    """An alarm of a run; platform/docs/alarms.md lists the kinds and their statistics.

    The message is a code with values (`Message`), in runs older than codes a sentence; it names
    nobody. `workers` and `questions` are whom and what it is about, none for the
    whole crowd. `evidence` lists answers to put side by side, a dictionary each: `question`, `left`
    and `right` (ids of a Question and of Responses; right may be null) and `llm_response` (of an
    LLMResponse, or null); an answer that was withdrawn since is no longer there.

    In a run with remedies `outcome` is a code with values as well: what became of it. `answered`
    says that a remedy of this very run takes care of it, so that it speaks against the grades no
    longer, unless somebody opens it again.
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


# Alarms that speak against the grades no longer: dismissed, or answered by a remedy of their run.
SETTLED = Q(state=Alarm.State.DISMISSED) | (Q(answered=True) & ~Q(state=Alarm.State.OPEN))


class AlarmReview(Record):
    """A user's review of an alarm, with the reason; the newest one sets the alarm's state.

    `remedied_by` is the run that was made with a remedy, until that is deleted.
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
