"""Model of payments to workers, as an append-only ledger."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import Access
from annotations.models.base import AppendOnly
from annotations.models.submissions import Submission

PART = "part of the pay"
"""The round of partial payments; every other round is of bonuses."""


class BonusPayment(AppendOnly):
    """Entry in the payment ledger; entries of one payment share the id `payment`.

    A payment has each event at most once, so it cannot be confirmed, sent or paid twice. A process
    that sends it first inserts the entry "sent", and continues only if that succeeded. A submission
    has one payment in a `round` that is neither cancelled nor failed; the next `attempt` follows
    only after one of these.
    """

    class Event(models.TextChoices):
        """Events of a payment, from proposed to paid, failed or cancelled.

        After sent or unknown, without paid or failed, ask the panel and do not repeat the payment.
        """

        PROPOSED = "proposed"
        CONFIRMED = "confirmed"
        SENT = "sent"
        UNKNOWN = "unknown"
        PAID = "paid"
        FAILED = "failed"
        CANCELLED = "cancelled"

    access = Access(question_set="submission__version__question_set")

    payment = models.UUIDField(default=uuid.uuid4)
    event = models.CharField(max_length=10, choices=Event.choices)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="bonus_payments"
    )
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    currency = models.CharField(max_length=3, help_text="As in ISO 4217, such as GBP.")
    reason = models.TextField(blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="bonus_payments"
    )
    reference = models.CharField(max_length=200, blank=True, help_text="The panel's own id.")
    round = models.CharField(
        max_length=60, default="bonus", help_text="What it is paid for: once a round."
    )
    attempt = models.PositiveSmallIntegerField(default=1)
    batch = models.UUIDField(
        null=True, blank=True, help_text="The list with which it was sent, of an entry of that."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["payment", "event"], name="bonus_event_once"),
            models.UniqueConstraint(
                fields=["submission", "round", "attempt"],
                condition=Q(event="proposed"),
                name="bonus_once_a_round",
            ),
            models.CheckConstraint(
                condition=Q(
                    event__in=[
                        "proposed",
                        "confirmed",
                        "sent",
                        "unknown",
                        "paid",
                        "failed",
                        "cancelled",
                    ]
                ),
                name="bonus_event_is_known",
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="bonus_is_an_amount"),
            models.CheckConstraint(
                condition=~Q(event="confirmed") | Q(actor__isnull=False),
                name="bonus_is_confirmed_by_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.amount} {self.currency}"
