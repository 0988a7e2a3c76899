"""Model of workers' answers to questions."""

from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record
from annotations.models.imports import Import
from annotations.models.questions import Question
from annotations.models.signals import Signals
from annotations.models.submissions import Submission


class Response(Record, Signals):
    """Worker's answer to a question, in one submission.

    `text` is as written. An answer of white space only is stored as "" with the status empty: the
    worker did not answer. `extra` has the further columns of an imported file. `revision` counts
    how often the text was saved, so that an outdated page cannot overwrite a newer text.

    Times are None if not recorded. `started_at` is when the page was first shown, `first_draft_at`
    when the first text was saved, `submitted_at` when it was submitted. `language` is the language
    of the question when the text was last saved (BCP 47 tag); "" if not known. `brought_by` is the
    import that stored it; None for an answer given here, or older than the table of imports.
    """

    class State(models.TextChoices):
        """Whether the worker can still change the answer; only submitted ones are graded."""

        DRAFT = "draft"
        SUBMITTED = "submitted"

    class Status(models.TextChoices):
        """Whether the worker answered the question or left it empty."""

        TEXT = "text", "answered"
        EMPTY = "empty", "not answered"

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    # An index below begins with each of them; another one would only slow down inserts.
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="responses", db_index=False
    )
    question = models.ForeignKey(
        Question, on_delete=models.RESTRICT, related_name="responses", db_index=False
    )
    text = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    status = models.CharField(max_length=5, choices=Status.choices)
    rejected = models.BooleanField(
        default=False, help_text="Refused where it was collected; left out of runs."
    )
    brought_by = models.ForeignKey(
        Import, on_delete=models.SET_NULL, null=True, related_name="responses", db_index=False
    )
    revision = models.PositiveIntegerField(default=1)
    extra = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    first_draft_at = models.DateTimeField(null=True, blank=True)
    work_seconds = models.FloatField(
        null=True, blank=True, help_text="Time on task, as it was counted where it was collected."
    )
    language = models.CharField(
        max_length=35, blank=True, help_text="In which its question was read, as in BCP 47."
    )

    class Meta:
        constraints = [
            *Signals.Meta.constraints,
            models.UniqueConstraint(fields=["submission", "question"], name="response_once"),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "submitted"]), name="response_state_is_known"
            ),
            models.CheckConstraint(
                condition=(Q(status="empty") & Q(text="")) | (Q(status="text") & ~Q(text="")),
                name="response_is_empty_or_has_a_text",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="response_revision_from_1"),
            models.CheckConstraint(
                condition=Q(work_seconds__isnull=True) | Q(work_seconds__gte=0),
                name="response_work_seconds_from_0",
            ),
        ]
        indexes = [
            models.Index(fields=["question", "id"], name="response_of_question"),
            # For undoing an import; partial, so answers given here take no space in it.
            models.Index(
                fields=["brought_by", "id"],
                condition=Q(brought_by__isnull=False),
                name="response_of_import",
            ),
            # Covers the columns for counting answers of a version, without reading their texts.
            models.Index(
                fields=["submission", "state", "status", "rejected", "updated_at"],
                name="response_counts",
            ),
            # Few sets have signals; a partial index finds them without reading other rows.
            models.Index(
                fields=["submission"], condition=Q(signals="counted"), name="response_signals"
            ),
        ]

    def __str__(self) -> str:
        return f"response {self.public_id}"
