"""What somebody should know before trusting a run: alarms.csv."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotations.models import Question, Worker
from evaluation.models.grades import Result
from evaluation.models.runs import Run


class Alarm(Result):
    """One alarm of a run; the kinds and their statistics are in platform/docs/alarms.md.

    The message is a code with values (`Message`), in runs older than codes a sentence; it names
    nobody. `workers` and `questions` are whom and what it is about, none for the
    whole crowd. `evidence` lists answers to put side by side, a dictionary each: `question`, `left`
    and `right` (ids of a Question and of Responses; right may be null) and `llm_response` (of an
    LLMResponse, or null); an answer that was withdrawn since is no longer there.
    """

    class Severity(models.TextChoices):
        """How urgent it is."""

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

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="alarm_place_once"),
            models.CheckConstraint(
                condition=Q(severity__in=["alarm", "notice", "info"]), name="alarm_severity"
            ),
        ]
        ordering = ["run", "place"]

    def __str__(self) -> str:
        return f"{self.kind} in {self.run_id}"
