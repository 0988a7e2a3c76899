"""Webhooks of requesters, the events that they report, and the deliveries of these."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models import Access, QuestionSet, Record
from evaluation.models.runs import Run

LONGEST_URL: Final = 500


class Webhook(Record):
    """Address to which events are sent by POST, signed with a secret.

    Attributes
    ----------
    events : types of the events that are sent.
    question_set : None for all sets that the owner owns or edits in a team.
    salt : with SECRET_KEY and `public_id` it gives the secret, which is not stored.
    secret_hash : SHA-256 of the secret, to detect another SECRET_KEY.
    failures : failed attempts since the last success.
    off_at, off_reason : since when and why nothing is sent; None and "" while it is on.
    """

    class Off(models.TextChoices):
        """Reason why a webhook is off; only the first is the user's own choice."""

        USER = "user", "switched off"
        FAILURES = "failures", "too many failed attempts"
        GONE = "gone", "the address answered 410"
        SECRET = "secret", "the secret is no longer valid"

    access = Access(owner="owner")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    name = models.CharField(max_length=100)
    url = models.CharField(max_length=LONGEST_URL)
    events = models.JSONField(default=list)
    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, null=True, blank=True, related_name="webhooks"
    )
    salt = models.CharField(max_length=32)
    secret_hash = models.CharField(max_length=64)
    failures = models.PositiveIntegerField(default=0)
    off_at = models.DateTimeField(null=True, blank=True)
    off_reason = models.CharField(max_length=8, choices=Off.choices, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="webhook_name_once_per_owner",
                violation_error_message="You have a webhook of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="webhook_has_a_name"),
            models.CheckConstraint(
                condition=Q(off_at__isnull=True, off_reason="")
                | Q(off_at__isnull=False, off_reason__in=["user", "failures", "gone", "secret"]),
                name="webhook_that_is_off_says_why",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_on(self) -> bool:
        """Whether events are recorded and sent."""
        return self.off_at is None


class Event(Record):
    """An event in a question set (such as a finished run), with the exact body that is sent.

    `key` identifies what is reported, so that recording it again changes nothing. A test event has
    no question set. Bodies hold names and ids, but no texts of answers and no workers.
    """

    access = Access(question_set="question_set")

    type = models.CharField(max_length=20)
    key = models.CharField(max_length=100, unique=True)
    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, null=True, related_name="events"
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="events")
    body = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="event_age")]

    def __str__(self) -> str:
        return f"{self.type} {self.public_id}"


class Delivery(Record):
    """An event for one webhook: whether it was delivered, and the result of the last attempt.

    Attributes
    ----------
    attempts : all attempts; tries : those since it was last queued, which the pauses depend on.
    next_at : when the next attempt is due; None unless the state is waiting.
    claimed_until : a background process sends it now; after this time another one may.
    status : of the last response, None without one. error : code of the last failure, "" after a
        success. seconds : duration of the last attempt.
    """

    class State(models.TextChoices):
        """State of a delivery; a failed one can be queued again."""

        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed"

    access = Access(owner="webhook__owner")

    # An index below begins with this column, so it needs none of its own.
    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    last_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveIntegerField(null=True, blank=True)
    error = models.CharField(max_length=20, blank=True)
    seconds = models.FloatField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event"], name="delivery_once"),
            models.CheckConstraint(
                condition=Q(state="waiting", next_at__isnull=False)
                | Q(state__in=["delivered", "failed"], next_at__isnull=True),
                name="delivery_that_waits_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(tries__lte=models.F("attempts")), name="delivery_tries_are_attempts"
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(state="waiting"), name="delivery_due"),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook_id}"
