"""Models of candidate questions with several right answers, as a model generates them.

A model generates a question with its answers, filters and another model check it, and validators
accept it, edit it or reject it with a reason. Accepted candidates can enter a new question set.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet
from annotations.models.writing import WritingProject


class CandidateQuestion(Record):
    """A generated question with its right answers, and its state in the checks.

    `answers` holds a list of spellings for each answer; `generated` keeps text and answers as the
    model wrote them. `revision` counts the edits; a vote is about one revision. `verdict` is the
    verifying model's: right, wrong, incomplete, ambiguous, unread or "" (not asked), with its
    `verdict_note`. `reason` states why it left: a filter's code with `detail`.
    """

    class State(models.TextChoices):
        """State of a candidate: being checked, accepted, or the step that rejected it."""

        FILTERED = "filtered", "left out by a filter"
        REFUSED = "refused", "refused by the model"
        CHECKING = "checking", "being checked"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected by validators"

    access = Access(question_set="project__version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    project = models.ForeignKey(
        WritingProject, on_delete=models.CASCADE, related_name="candidates", db_index=False
    )
    number = models.PositiveIntegerField()
    run = models.UUIDField(help_text="Public id of the run that generated it.")
    source = models.TextField(blank=True, help_text="Topic or question that it is made from.")
    text = models.TextField()
    answers = models.JSONField(default=list)
    generated = models.JSONField(default=dict)
    generated_by = models.CharField(max_length=1000)
    verified_by = models.CharField(max_length=1000, blank=True)
    verdict = models.CharField(max_length=10, blank=True)
    verdict_note = models.TextField(blank=True)
    state = models.CharField(max_length=8, choices=State.choices)
    reason = models.CharField(max_length=20, blank=True)
    detail = models.TextField(blank=True)
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    added_to = models.ForeignKey(
        QuestionSet, on_delete=models.SET_NULL, null=True, blank=True, related_name="candidates"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="candidate_number_once"),
            models.CheckConstraint(
                condition=Q(
                    state__in=["filtered", "refused", "checking", "accepted", "rejected"]
                ),
                name="candidate_state_is_known",
            ),
        ]  # fmt: skip
        indexes = [models.Index(fields=["project", "state", "id"], name="candidate_list")]

    def __str__(self) -> str:
        return f"candidate {self.number}"

    @property
    def external_id(self) -> str:
        """Id of the question in files and in the question set that it enters."""
        return f"candidate-{self.number}"

    @property
    def is_edited(self) -> bool:
        """Whether validators changed the text or the answers."""
        return self.revision > 1


class CandidateVote(Record):
    """A validator's vote on one revision of a candidate; validators see only their own votes.

    A vote with `edited` made its revision: `text` and `answers` are what it made. It accepts that
    revision.
    """

    class Reason(models.TextChoices):
        """Reason of a rejection."""

        WRONG = "wrong", "an answer is wrong"
        INCOMPLETE = "incomplete", "right answers are missing"
        AMBIGUOUS = "ambiguous", "the question has several readings"
        SINGLE = "single", "it has only one right answer"
        OUTDATED = "outdated", "the answers change over time"
        OTHER = "other", "another reason"

    access = Access(
        question_set="candidate__project__version__question_set",
        people="validator",
        readers=VIEWERS,
    )

    # An index below begins with this column, so it needs none of its own.
    candidate = models.ForeignKey(
        CandidateQuestion, on_delete=models.CASCADE, related_name="votes", db_index=False
    )
    validator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="candidate_votes"
    )
    revision = models.PositiveIntegerField()
    accepted = models.BooleanField()
    edited = models.BooleanField(default=False)
    text = models.TextField(blank=True)
    answers = models.JSONField(default=list, blank=True)
    reason = models.CharField(max_length=10, choices=Reason.choices, blank=True)
    note = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "revision", "validator"], name="candidate_vote_once"
            ),
            models.CheckConstraint(
                condition=Q(accepted=True, reason="") | (Q(accepted=False) & ~Q(reason="")),
                name="candidate_vote_has_a_reason_if_rejected",
            ),
        ]

    def __str__(self) -> str:
        return f"vote {self.public_id}"
