"""Models of the collection of answers: its settings, and the progress of each worker."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import F, Q

from annotations.models.access import EDITORS, VIEWERS, Access
from annotations.models.base import Record, Scoped
from annotations.models.question_sets import QuestionSet, QuestionSetVersion
from annotations.models.questions import Passage, Question
from annotations.models.responses import Response
from annotations.models.submissions import Submission

MOST_PLACES = 100_000
"""Most workers of one collection."""


def new_secret() -> str:
    """Return a random key that signs the links of one collection."""
    return secrets.token_urlsafe(32)


def new_seed() -> int:
    """Return a random seed for question orders: 48 bits, exact as a bigint and as a double."""
    return secrets.randbits(48)


def new_code() -> str:
    """Return a random completion code of 8 characters, none of them easily confused."""
    return "".join(secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(8))


class Collection(Record):
    """Collection of answers to one published version: who may answer, how many, and how.

    Attributes
    ----------
    places : number of workers who may take part.
    answers_per_question : answers wanted for each question; None: of all workers.
    questions_per_worker : graded questions for each worker; None: as many as the places need.
    reservation_minutes : a place stays reserved so long after its worker was last active.
    checks_needed : attention checks that a worker must pass; None or 0: no minimum. Workers below
        it get `code_failed_checks`; nothing else follows.
    screened_out_pay, failed_checks_pay : partial payment of workers who failed the practice, or
        the attention checks.
    by_score : only listed workers may take part; the list follows their scores in an earlier set.
    secret : the key that signs links; it never leaves the server.
    """

    class State(models.TextChoices):
        """State of a collection; a paused one admits no new workers, a closed one takes nothing."""

        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    class Protocol(models.TextChoices):
        """Whether a passage stays visible with its questions, or is read first (AQER, 5.2)."""

        RECALL = "recall", "read, then answer from memory"
        OPEN = "open", "the passage stays beside the questions"

    access = Access(question_set="version__question_set", readers=VIEWERS)

    version = models.OneToOneField(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="collection"
    )
    state = models.CharField(max_length=6, choices=State.choices, default=State.OPEN)
    title = models.CharField(max_length=200, blank=True, help_text="Shown to workers.")
    contact = models.CharField(
        max_length=200, blank=True, help_text="Contact for workers; shown to them."
    )
    places = models.PositiveIntegerField()
    answers_per_question = models.PositiveIntegerField(null=True, blank=True)
    questions_per_worker = models.PositiveIntegerField(null=True, blank=True)
    protocol = models.CharField(max_length=6, choices=Protocol.choices, default=Protocol.RECALL)
    reading_seconds = models.PositiveIntegerField(default=600)
    reservation_minutes = models.PositiveIntegerField(default=60)
    most_characters = models.PositiveIntegerField(default=5_000)
    practice_needed = models.PositiveIntegerField(null=True, blank=True)
    checks_needed = models.PositiveIntegerField(null=True, blank=True)
    signals = models.BooleanField(
        default=True,
        help_text="Whether pastes, keystrokes and times away are counted; workers are informed.",
    )
    panel = models.CharField(max_length=100, blank=True)
    worker_parameter = models.CharField(max_length=60, default="PROLIFIC_PID")
    study_parameter = models.CharField(max_length=60, blank=True, default="STUDY_ID")
    session_parameter = models.CharField(max_length=60, blank=True, default="SESSION_ID")
    anonymous = models.BooleanField(default=False)
    signed = models.BooleanField(default=False)
    listed_only = models.BooleanField(default=False)
    by_score = models.BooleanField(default=False, editable=False)
    excludes = models.ManyToManyField(QuestionSet, blank=True, related_name="excluded_by")
    secret = models.CharField(max_length=64, default=new_secret, editable=False)
    seed = models.PositiveBigIntegerField(default=new_seed)
    pay = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, help_text="As in ISO 4217, such as GBP.")
    panel_fee = models.DecimalField(
        max_digits=5, decimal_places=2, default=0, help_text="In percent of the pay."
    )
    least_hourly_pay = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    screened_out_pay = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    failed_checks_pay = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    grade_every = models.PositiveIntegerField(null=True, blank=True)
    declined = models.PositiveIntegerField(
        default=0, editable=False, help_text="Number of refusals of consent; not by whom."
    )
    base_url = models.CharField(max_length=300, blank=True)
    return_url = models.CharField(max_length=500, blank=True)
    code_done = models.CharField(max_length=40, default=new_code)
    code_no_consent = models.CharField(max_length=40, default=new_code)
    code_screened_out = models.CharField(max_length=40, default=new_code)
    code_too_late = models.CharField(max_length=40, default=new_code)
    code_not_chosen = models.CharField(max_length=40, blank=True)
    code_failed_checks = models.CharField(max_length=40, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["open", "paused", "closed"]),
                name="collection_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(protocol__in=["recall", "open"]), name="collection_protocol_is_known"
            ),
            models.CheckConstraint(
                condition=Q(places__gte=1, places__lte=MOST_PLACES), name="collection_has_places"
            ),
            models.CheckConstraint(
                condition=Q(answers_per_question__isnull=True) | Q(answers_per_question__gte=1),
                name="collection_answers_from_1",
            ),
            models.CheckConstraint(
                condition=Q(questions_per_worker__isnull=True) | Q(questions_per_worker__gte=1),
                name="collection_questions_from_1",
            ),
            models.CheckConstraint(
                condition=Q(reading_seconds__gte=10, reservation_minutes__gte=1),
                name="collection_leaves_time",
            ),
            models.CheckConstraint(
                condition=Q(most_characters__gte=1, most_characters__lte=20_000),
                name="collection_answer_length",
            ),
            models.CheckConstraint(
                condition=~Q(worker_parameter=""), name="collection_names_the_worker"
            ),
            models.CheckConstraint(
                condition=Q(pay__isnull=True) | (Q(pay__gte=0) & ~Q(currency="")),
                name="collection_pay_has_a_currency",
            ),
            models.CheckConstraint(
                condition=Q(panel_fee__gte=0)
                & (Q(least_hourly_pay__isnull=True) | Q(least_hourly_pay__gte=0)),
                name="collection_money_is_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(grade_every__isnull=True) | Q(grade_every__gte=1),
                name="collection_grades_after_1",
            ),
            # A panel knows the outcome by the code alone, so the codes must differ.
            models.CheckConstraint(
                condition=~Q(code_done="")
                & ~Q(code_done=F("code_no_consent"))
                & ~Q(code_done=F("code_screened_out"))
                & ~Q(code_done=F("code_too_late")),
                name="collection_code_of_done_is_its_own",
            ),
            models.CheckConstraint(
                condition=Q(code_failed_checks="")
                | (
                    ~Q(code_failed_checks=F("code_done"))
                    & ~Q(code_failed_checks=F("code_no_consent"))
                    & ~Q(code_failed_checks=F("code_screened_out"))
                    & ~Q(code_failed_checks=F("code_too_late"))
                    & ~Q(code_failed_checks=F("code_not_chosen"))
                ),
                name="collection_code_of_checks_is_its_own",
            ),
            models.CheckConstraint(
                condition=Q(checks_needed__isnull=True)
                | Q(checks_needed=0)
                | ~Q(code_failed_checks=""),
                name="collection_checks_have_a_code",
            ),
            models.CheckConstraint(
                condition=(Q(screened_out_pay__isnull=True) | Q(screened_out_pay__gt=0))
                & (Q(failed_checks_pay__isnull=True) | Q(failed_checks_pay__gt=0)),
                name="collection_part_is_an_amount",
            ),
        ]

    def __str__(self) -> str:
        return f"collecting of {self.version}"

    @property
    def code_for_low_scores(self) -> str:
        """Completion code for workers whose score in an earlier set is too low.

        By default it is the code for failed practice.
        """
        return self.code_not_chosen or self.code_screened_out


def is_counting_signals(question_set: QuestionSet) -> bool:
    """Return whether a set's newest collection counts writing signals; True without a collection.

    Writing signals are counts of pastes, key presses and page leaves.
    """
    collections = Collection.objects.filter(version__question_set=question_set)
    return (
        collections.order_by("-version__number").values_list("signals", flat=True).first()
        is not False
    )


class Admission(Scoped):
    """A worker's id on the list of those who may take part in a collection."""

    access = Access(question_set="collection__version__question_set", readers=EDITORS)

    # An index below begins with this column, so it needs none of its own.
    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="admissions", db_index=False
    )
    external_id = models.CharField(max_length=255)
    why = models.CharField(max_length=200, blank=True, help_text="Such as a score in another set.")
    by_score = models.BooleanField(default=False, help_text="By a rule, and not by hand.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "external_id"], name="admission_once_per_worker"
            ),
            models.CheckConstraint(condition=~Q(external_id=""), name="admission_has_an_id"),
        ]

    def __str__(self) -> str:
        return self.external_id


class Consent(Scoped):
    """A worker's consent with its time; `text_hash` identifies the text that was shown.

    The text is the version's consent text in that language, which is frozen; "" stands for the
    default text.
    """

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="consent")
    text_hash = models.CharField(max_length=64, blank=True)
    language = models.CharField(max_length=35, blank=True)
    given_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"consent of {self.submission_id}"


class Assignment(Scoped):
    """A question assigned to a worker, with its position and the worker's progress.

    Questions with the same `page` (from 1) are shown together and are about one passage.
    """

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="assignments")
    position = models.PositiveIntegerField()
    page = models.PositiveIntegerField()
    shown_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True, help_text="When last handed in.")
    told_at = models.DateTimeField(null=True, blank=True, help_text="When its feedback was read.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "question"], name="assignment_once"),
            models.UniqueConstraint(fields=["submission", "position"], name="assignment_in_order"),
            models.CheckConstraint(
                condition=Q(position__gte=1, page__gte=1), name="assignment_counts_from_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_id} for {self.submission_id}"


class Reading(Scoped):
    """Period in which a worker could read a passage before answering from memory."""

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="readings", db_index=False
    )
    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="readings")
    opened_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "passage"], name="reading_once"),
            models.CheckConstraint(
                condition=Q(read_at__isnull=True) | Q(read_at__gte=F("opened_at")),
                name="reading_ends_after_its_start",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.passage_id} by {self.submission_id}"


class OtherText(Scoped):
    """Alternative text of an answer, from a second tab or device, until the worker chooses one.

    `tab` identifies the tab that keeps writing it, so each tab has one text; "" for a form that was
    submitted once.
    """

    access = Access(question_set="response__submission__version__question_set", readers=EDITORS)

    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="other_texts")
    text = models.TextField()
    tab = models.CharField(max_length=36, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["response", "tab"], condition=~Q(tab=""), name="other_text_once_per_tab"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="other_text_is_no_empty_one"),
        ]

    def __str__(self) -> str:
        return f"other text of {self.response_id}"


class PanelSession(Scoped):
    """The panel's session id of one visit of a worker; a new visit may have a new id."""

    access = Access(question_set="submission__version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="panel_sessions", db_index=False
    )
    session_id = models.CharField(max_length=255)
    study_id = models.CharField(max_length=255, blank=True)
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "session_id"], name="panel_session_once"),
        ]

    def __str__(self) -> str:
        return self.session_id
