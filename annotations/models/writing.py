"""Models of unanswerable word problems, as users write and check them.

A writer changes an answerable question of a version so that it has no answer. Validators, who know
neither the author nor each other's votes, state whether it has one. A problem is accepted if all
of them find it unanswerable.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import AppendOnly, Record
from annotations.models.invitations import Invited
from annotations.models.question_sets import QuestionSetVersion
from annotations.models.questions import Question

MOST_CHARACTERS = 5_000
"""Most characters of a written problem."""


class Category(models.IntegerChoices):
    """Reason why a problem has no answer, numbered as in UMWP (Sun et al. 2024, section 3)."""

    MISSING = 1, "key information missing"
    AMBIGUOUS = 2, "ambiguous key information"
    UNREALISTIC = 3, "unrealistic conditions"
    UNRELATED = 4, "unrelated object"
    NO_QUESTION = 5, "question missing"


class WritingProject(Record):
    """Project in which users write unanswerable problems from one version's questions.

    `per_original` is the number of problems that may be written from one question. `votes_needed`
    validators check each, and all of them must find it unanswerable. A closed project takes nothing
    more.
    """

    access = Access(question_set="version__question_set", readers=VIEWERS)

    version = models.OneToOneField(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="writing"
    )
    instructions = models.TextField(
        blank=True, help_text="Shown to everybody who writes or checks."
    )
    per_original = models.PositiveSmallIntegerField(default=1)
    votes_needed = models.PositiveSmallIntegerField(default=3)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(per_original__gte=1, per_original__lte=5),
                name="writing_per_original_from_1_to_5",
            ),
            models.CheckConstraint(
                condition=Q(votes_needed__gte=1, votes_needed__lte=9),
                name="writing_votes_from_1_to_9",
            ),
        ]

    def __str__(self) -> str:
        return f"writing of {self.version}"


class WritingMember(Invited):
    """Member of a project: a writer or a validator, never both."""

    class Role(models.TextChoices):
        """Role of a member: to write problems or to check them."""

        WRITER = "writer", "writer"
        VALIDATOR = "validator", "validator"

    access = Access(
        question_set="project__version__question_set",
        people="user",
        waiting="pending",
        readers=VIEWERS,
        managed=True,
    )
    told_with = ("project__version__question_set__owner",)

    # An index below begins with this column, so it needs none of its own.
    project = models.ForeignKey(
        WritingProject, on_delete=models.CASCADE, related_name="members", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="writing"
    )
    role = models.CharField(max_length=9, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="writing_member_once"),
            models.CheckConstraint(
                condition=Q(role__in=["writer", "validator"]), name="writing_role_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.role}"

    @property
    def inviter(self) -> User:
        """User who invites: the owner of the question set."""
        return self.project.version.question_set.owner

    @property
    def request_phrase(self) -> str:
        """What the user is invited to do for the question set: to write or to check problems."""
        writes = self.role == self.Role.WRITER
        return f"{'write' if writes else 'check'} problems for the question set"

    @property
    def subject_name(self) -> str:
        """Name of the question set."""
        return self.project.version.question_set.name


class WrittenProblem(Record):
    """Problem written from a question so that it has no answer.

    `number` counts the problems of one question; the id in files contains it. `revision` counts how
    often it was submitted; a vote is about one revision. `category` is the author's reason why
    there is no answer; None until it is chosen.
    """

    class State(models.TextChoices):
        """State of a problem; its author can change only drafts and returned problems."""

        DRAFT = "draft", "being written"
        CHECKING = "checking", "being checked"
        RETURNED = "returned", "sent back"
        ACCEPTED = "accepted", "accepted"
        WITHDRAWN = "withdrawn", "given up by its author"
        DROPPED = "dropped", "left out by the requester"

    access = Access(question_set="project__version__question_set", people="author", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    project = models.ForeignKey(
        WritingProject, on_delete=models.CASCADE, related_name="problems", db_index=False
    )
    # An index below begins with this column, so it needs none of its own.
    original = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="written", db_index=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="written_problems"
    )
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    category = models.PositiveSmallIntegerField(choices=Category.choices, null=True, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.DRAFT)
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["original", "number"], name="written_number_once"),
            models.CheckConstraint(
                condition=Q(category__isnull=True) | Q(category__gte=1, category__lte=5),
                name="written_category_from_1_to_5",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "draft", "checking", "returned", "accepted", "withdrawn", "dropped",
                    ]
                ),
                name="written_state_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["checking", "accepted"])
                | (~Q(text="") & Q(category__isnull=False, submitted_at__isnull=False)),
                name="written_is_whole_before_it_is_checked",
            ),
        ]  # fmt: skip
        indexes = [models.Index(fields=["project", "state", "id"], name="written_list")]

    def __str__(self) -> str:
        return self.external_id

    @property
    def external_id(self) -> str:
        """Id of the problem in files: the question's id and the problem's number."""
        return f"{self.original.external_id}-{self.number}"


class ProblemVote(Record):
    """Validator's vote on one revision of a problem: whether it has an answer, or why it has none.

    Validators see their own votes only.
    """

    access = Access(
        question_set="problem__project__version__question_set", people="validator", readers=VIEWERS
    )

    # An index below begins with this column, so it needs none of its own.
    problem = models.ForeignKey(
        WrittenProblem, on_delete=models.CASCADE, related_name="votes", db_index=False
    )
    validator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="problem_votes"
    )
    revision = models.PositiveIntegerField()
    answerable = models.BooleanField()
    category = models.PositiveSmallIntegerField(choices=Category.choices, null=True, blank=True)
    note = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["problem", "revision", "validator"], name="problem_vote_once"
            ),
            models.CheckConstraint(
                condition=Q(answerable=True, category__isnull=True)
                | Q(answerable=False, category__gte=1, category__lte=5),
                name="problem_vote_has_a_category_if_unanswerable",
            ),
        ]

    def __str__(self) -> str:
        return f"vote {self.public_id}"


class WritingEvent(AppendOnly):
    """Event in the history of a written problem, with its user, time and text."""

    class Kind(models.TextChoices):
        """Kind of event; decisions by votes are logged for the validator who voted last."""

        BEGUN = "begun", "begun"
        SUBMITTED = "submitted", "handed in"
        ACCEPTED = "accepted", "accepted"
        RETURNED = "returned", "sent back by the validators"
        SENT_BACK = "sent_back", "sent back by the requester"
        WITHDRAWN = "withdrawn", "given up"
        DROPPED = "dropped", "left out"

    access = Access(question_set="problem__project__version__question_set", readers=VIEWERS)

    problem = models.ForeignKey(WrittenProblem, on_delete=models.PROTECT, related_name="events")
    kind = models.CharField(max_length=9, choices=Kind.choices)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="writing_events"
    )
    revision = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    category = models.PositiveSmallIntegerField(choices=Category.choices, null=True, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    kind__in=[
                        "begun", "submitted", "accepted", "returned", "sent_back", "withdrawn",
                        "dropped",
                    ]
                ),
                name="writing_event_is_known",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.kind} {self.problem_id}"
