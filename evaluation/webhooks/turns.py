"""Send due deliveries in the background, each requester's one after the other."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.models import Delivery, Webhook
from evaluation.runs.background.leases import build_future_time
from evaluation.runs.steps.asking.registration import build_address_check
from evaluation.webhooks.messages import TEST
from evaluation.webhooks.storage import (
    AttemptOutcome,
    build_signed_headers,
    derive_secret,
    has_valid_secret,
    may_receive_events,
    send_request,
)

logger = logging.getLogger(__name__)

PAUSES: Final = (30, 120, 600, 3_600, 10_800, 21_600, 43_200)
"""Seconds before the second and each further attempt: 8 attempts within 23 hours."""
LONGEST_WAIT: Final = 43_200.0
"""Most seconds for which a response may ask by Retry-After."""
MOST_FAILURES: Final = 20
"""Failed attempts in a row after which a webhook is switched off."""
MOST_AT_ONCE: Final = 8
"""Deliveries that one background process sends at a time, each of another requester."""
CANDIDATES: Final = 200
"""Due deliveries that are looked at, to find those of different requesters."""
CLAIM: Final = timedelta(seconds=60)
"""Time after which another process sends a claimed delivery: longer than any attempt."""
GONE: Final = 410


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery that this process is sending; `attempts` is the number of earlier attempts."""

    pk: int
    attempts: int


@dataclass
class Sender:
    """Sends due deliveries in threads, which need no connection to the database.

    All database work is done by `process_due_deliveries`, in its caller's thread.
    """

    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(MOST_AT_ONCE, "webhook")
    )
    _sent: dict[ClaimedDelivery, Future[AttemptOutcome]] = field(default_factory=dict)

    def process_due_deliveries(self) -> int:
        """Store outcomes, start to send what is due, and return how many are being sent."""
        for claimed in [one for one, future in self._sent.items() if future.done()]:
            store_outcome(claimed, self._sent.pop(claimed).result())
        if len(self._sent) < MOST_AT_ONCE:
            for delivery in claim_due_deliveries(MOST_AT_ONCE - len(self._sent)):
                self._start_sending(delivery)
        return len(self._sent)

    def end(self) -> None:
        """Store the outcomes of the requests that have ended; the others are sent again later."""
        for claimed, future in self._sent.items():
            if future.done():
                store_outcome(claimed, future.result())
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start_sending(self, delivery: Delivery) -> None:
        """Send a claimed delivery in a thread, or store why it may not be sent."""
        webhook, event = delivery.webhook, delivery.event
        claimed = ClaimedDelivery(delivery.pk, delivery.attempts)
        if not has_valid_secret(webhook):
            store_outcome(claimed, AttemptOutcome("key_changed", None, 0.0))
        elif not may_receive_events(webhook, event.question_set_id):
            store_outcome(claimed, AttemptOutcome("no_access", None, 0.0))
        else:
            body = event.body.encode()
            secret = derive_secret(webhook)
            headers = build_signed_headers(secret, str(event.public_id), body, time.time())
            vet = build_address_check()
            self._sent[claimed] = self._pool.submit(send_request, webhook.url, headers, body, vet)


def claim_due_deliveries(most: int) -> list[Delivery]:
    """Claim at most `most` due deliveries, one per owner, none of owners who have a claimed one."""
    served = Delivery.objects.filter(claimed_until__gt=Now()).values("webhook__owner")
    due = (
        Delivery.objects.filter(state=Delivery.State.WAITING, next_at__lte=Now())
        .filter(Q(webhook__off_at=None) | Q(event__type=TEST))
        .exclude(webhook__owner__in=served)
        .select_related("webhook__owner", "event")
        .order_by("next_at", "pk")[:CANDIDATES]
    )
    by_owner: dict[int, Delivery] = {}
    for delivery in due:
        by_owner.setdefault(delivery.webhook.owner_id, delivery)
    claimed = []
    for delivery in list(by_owner.values())[:most]:
        # Only as it was read: another process may have claimed it, or the user queued it again.
        as_read = Delivery.objects.filter(
            pk=delivery.pk, state=Delivery.State.WAITING, attempts=delivery.attempts
        ).exclude(claimed_until__gt=Now())
        if as_read.update(claimed_until=build_future_time(CLAIM)):
            claimed.append(delivery)
    return claimed


@transaction.atomic
def store_outcome(claimed: ClaimedDelivery, outcome: AttemptOutcome) -> None:
    """Store the outcome of an attempt; queue the next attempt, or switch the webhook off."""
    delivery = (
        Delivery.objects.select_for_update(of=("self",))
        .select_related("event")
        .filter(pk=claimed.pk, attempts=claimed.attempts)
        .first()
    )
    if delivery is None:
        # Deleted with its webhook or question set, or stored by another process after the claim.
        return
    webhook = Webhook.objects.select_for_update().get(pk=delivery.webhook_id)
    delivery.attempts += 1
    delivery.tries += 1
    delivery.claimed_until, delivery.last_at = None, timezone.now()
    delivery.status, delivery.error = outcome.status, outcome.error
    delivery.seconds = outcome.seconds
    delivery.state, delivery.next_at = _find_next_state(delivery, outcome)
    delivery.save()
    if not outcome.error:
        webhook.failures = 0
    elif delivery.event.type != TEST:
        webhook.failures += 1
    reason = _find_off_reason(webhook, outcome)
    if reason and webhook.is_on:
        webhook.off_at, webhook.off_reason = timezone.now(), reason
        logger.warning("webhook %s is switched off: %s", webhook.public_id, reason)
    webhook.save(update_fields=["failures", "off_at", "off_reason"])


def _find_next_state(
    delivery: Delivery, outcome: AttemptOutcome
) -> tuple[Delivery.State, datetime | None]:
    """Return the state of a delivery after an attempt, and when the next attempt is due."""
    if not outcome.error:
        return Delivery.State.DELIVERED, None
    is_final = outcome.error in ("no_access", "unsendable") or delivery.event.type == TEST
    if is_final or delivery.tries > len(PAUSES):
        return Delivery.State.FAILED, None
    pause = max(float(PAUSES[delivery.tries - 1]), min(outcome.wait or 0.0, LONGEST_WAIT))
    return Delivery.State.WAITING, timezone.now() + timedelta(seconds=pause)


def _find_off_reason(webhook: Webhook, outcome: AttemptOutcome) -> str:
    """Return the reason to switch a webhook off after an attempt; "" if it stays on."""
    if outcome.error == "key_changed":
        return Webhook.Off.SECRET
    if outcome.status == GONE:
        return Webhook.Off.GONE
    return Webhook.Off.FAILURES if webhook.failures >= MOST_FAILURES else ""
