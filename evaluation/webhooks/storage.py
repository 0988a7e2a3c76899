"""Store webhooks, and record events with a delivery for each webhook that wants them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import httpx
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotations.answering.places import count_free_places
from annotations.models import Membership, QuestionSet, Submission, new_public_id
from annotations.models.access import AnyUser
from annotations.outgoing.addresses import parse_url_address
from annotations.outgoing.connections import AddressRefusedError, Vet, VettedTransport
from annotations.outgoing.waiting import parse_retry_after
from evaluation.models import Alarm, Delivery, Event, Run, Webhook
from evaluation.models.alarms import SETTLED
from evaluation.models.runs import GRADING
from evaluation.runs.steps.asking.registration import build_address_check
from evaluation.webhooks.messages import (
    ALARM_RAISED,
    COLLECTION_FULL,
    EVENT_TYPES,
    RUN_FAILED,
    RUN_FINISHED,
    TEST,
    WebhookError,
)

SECONDS: Final = 10.0
"""Of one attempt: from the look-up of the host's name to the last header of the response."""
PREFIX: Final = "whsec_"
"""Beginning of every secret; the base64 after it encodes the signing key."""
HEADERS: Final = ("webhook-id", "webhook-timestamp", "webhook-signature")


@dataclass(frozen=True)
class AttemptOutcome:
    """Result of one attempt to send a request to a webhook.

    Attributes
    ----------
    error : key of `FAILURES`; "" if the address accepted the event.
    status : of the response; None without one.
    seconds : duration.
    wait : seconds that the response asks to wait before the next attempt; None if it does not.
    """

    error: str
    status: int | None
    seconds: float
    wait: float | None = None


def check_webhook_url(url: str, vet: Vet) -> None:
    """Raise `WebhookError` unless events may be sent to a URL.

    Only an IP address in it is vetted here. A host name may resolve to another address at any time,
    so it is vetted at each connection.
    """
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        raise WebhookError("no_url", "url") from None
    is_printable = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WebhookError("no_url", "url")
    if not port_is_valid or not is_printable:
        raise WebhookError("no_url", "url")
    if parts.username is not None or parts.password is not None:
        raise WebhookError("user_in_url", "url")
    if "#" in url:
        raise WebhookError("fragment_in_url", "url")
    address = parse_url_address(url)
    if address is not None and not vet(address):
        raise WebhookError("address", "url", address=str(address))


def sign_event(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of an event: the value of the header `webhook-signature`.

    It holds the version of the scheme and the base64 of the HMAC-SHA256.

    `secret` begins with `PREFIX`.
    """
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def build_signed_headers(secret: str, event_id: str, body: bytes, now: float) -> dict[str, str]:
    """Return the headers of a signed request at the time `now`, in seconds since 1970."""
    timestamp = int(now)
    values = (event_id, str(timestamp), sign_event(secret, event_id, timestamp, body))
    return {
        **dict(zip(HEADERS, values, strict=True)),
        "content-type": "application/json",
        "user-agent": "Crowdgrade-Webhooks/1",
    }


def send_request(url: str, headers: dict[str, str], body: bytes, vet: Vet) -> AttemptOutcome:
    """Send a webhook's request once and return its outcome; never read the response's body.

    The connection is made only to an IP address that `vet` permits. Redirects are not followed.
    """
    began = time.monotonic()
    try:
        response = asyncio.run(_post_request(url, headers, body, vet))
    except Exception as error:
        return AttemptOutcome(_find_failure_code(error), None, time.monotonic() - began)
    seconds = time.monotonic() - began
    if response.is_success:
        return AttemptOutcome("", response.status_code, seconds)
    code = "redirect" if response.is_redirect else "status"
    wait = parse_retry_after(response.headers.get("Retry-After"))
    return AttemptOutcome(code, response.status_code, seconds, wait)


async def _post_request(url: str, headers: dict[str, str], body: bytes, vet: Vet) -> httpx.Response:
    """Return the response to a POST request, without its body."""
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=0)
    async with (
        # Over the whole attempt: the timeout of httpx starts anew with every part that arrives.
        asyncio.timeout(SECONDS),
        httpx.AsyncClient(
            transport=VettedTransport(vet, limits),
            timeout=SECONDS,
            follow_redirects=False,
            trust_env=False,
        ) as client,
        # A stream: its body could be without end, and only the status counts.
        client.stream("POST", url, content=body, headers=headers) as response,
    ):
        return response


def _find_failure_code(error: Exception) -> str:
    """Return the key of `FAILURES` for a network error; raise any other error again."""
    if isinstance(error, AddressRefusedError):
        return "address_refused"
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "timeout"
    if isinstance(error, httpx.TransportError):
        return "connection"
    if isinstance(error, httpx.InvalidURL | UnicodeError | ValueError):
        return "unsendable"
    raise error


MOST_WEBHOOKS: Final = 20
"""Webhooks of one user."""
NO_RESERVATIONS: Final = datetime.max.replace(tzinfo=UTC)
"""A time at which every reservation of a place has expired."""
LONG_COLUMNS: Final = ("parameters", "summary", "warnings", "reasons", "signature", "notes")
"""Columns of a run that no event needs."""


def derive_secret(webhook: Webhook) -> str:
    """Return the secret of a webhook, from SECRET_KEY, the webhook's id and its salt."""
    value = f"{webhook.public_id}:{webhook.salt}"
    digest = salted_hmac("crowdgrade.webhooks", value, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(digest).decode()


def has_valid_secret(webhook: Webhook) -> bool:
    """Return whether the secret that was shown to the user still signs the events."""
    return secrets.compare_digest(_hash_secret(derive_secret(webhook)), webhook.secret_hash)


def create_webhook(
    user: AnyUser, name: str, url: str, events: Sequence[str], question_set: UUID | None = None
) -> tuple[Webhook, str]:
    """Create a webhook; return it and its secret, which is not stored. Raises `WebhookError`."""
    with transaction.atomic():
        # The owner's row is locked, so that two simultaneous requests cannot both pass the limit.
        owner = get_user_model()._default_manager.select_for_update().get(pk=int(user.pk or 0))
        if Webhook.objects.filter(owner=owner).count() >= MOST_WEBHOOKS:
            raise WebhookError("too_many", "", most=MOST_WEBHOOKS)
        webhook = Webhook(owner=owner)
        _set_webhook_values(webhook, name, url, events, question_set)
        secret = _set_new_secret(webhook)
        _save_webhook(webhook)
    return webhook, secret


def edit_webhook(
    webhook: Webhook,
    name: str,
    url: str,
    events: Sequence[str],
    question_set: UUID | None = None,
) -> Webhook:
    """Change a webhook; waiting deliveries go to the new address. Raises `WebhookError`."""
    _set_webhook_values(webhook, name, url, events, question_set)
    _save_webhook(webhook)
    return webhook


@transaction.atomic
def renew_secret(webhook: Webhook) -> str:
    """Replace the secret of a webhook and return the new one, which signs from now on."""
    secret = _set_new_secret(webhook)
    webhook.save(update_fields=["salt", "secret_hash"])
    return secret


def set_webhook_state(webhook: Webhook, *, on: bool) -> None:
    """Switch a webhook on or off; for one that is off, events are neither recorded nor sent."""
    if on == webhook.is_on:
        return
    webhook.off_at = None if on else timezone.now()
    webhook.off_reason = "" if on else Webhook.Off.USER
    webhook.failures = 0
    webhook.save(update_fields=["off_at", "off_reason", "failures"])


@transaction.atomic
def queue_test_event(webhook: Webhook) -> Delivery:
    """Queue a test event, also for a webhook that is off; return its delivery.

    If an earlier test event is still queued, no new one is created.
    """
    Webhook.objects.select_for_update().get(pk=webhook.pk)
    waiting = webhook.deliveries.filter(event__type=TEST, state=Delivery.State.WAITING).first()
    if waiting is not None:
        return waiting
    event = _create_event(TEST, f"{TEST}:{new_public_id()}", None, None, {})
    assert event is not None
    return Delivery.objects.create(webhook=webhook, event=event, next_at=timezone.now())


def queue_delivery_again(delivery: Delivery) -> bool:
    """Queue a delivered or failed delivery again; return False if it is queued already."""
    ended = Delivery.objects.filter(pk=delivery.pk).exclude(state=Delivery.State.WAITING)
    return bool(ended.update(state=Delivery.State.WAITING, next_at=timezone.now(), tries=0))


def record_run_end(run_id: int) -> None:
    """Record the events of a run that is done or failed; call it in the transaction of its end."""
    run = Run.objects.select_related("version__question_set").defer(*LONG_COLUMNS).get(pk=run_id)
    question_set = run.version.question_set
    webhooks = find_subscribed_webhooks(question_set)
    if not webhooks:
        return
    about: dict[str, Any] = {"run": _build_run_entry(run)}
    event_type = RUN_FINISHED if run.state == Run.State.DONE else RUN_FAILED
    record_event(webhooks, event_type, str(run.pk), question_set, run, about)
    if event_type == RUN_FINISHED and run.kind == GRADING:
        raised = Alarm.objects.filter(run=run, severity=Alarm.Severity.ALARM).exclude(SETTLED)
        alarms = [
            {"number": place, "kind": kind} for place, kind in raised.values_list("place", "kind")
        ]
        if alarms:
            about = {**about, "alarms": alarms}
            record_event(webhooks, ALARM_RAISED, str(run.pk), question_set, run, about)


def record_full_collection(submission: Submission) -> None:
    """Record the event that a collection is full if the submission took its last place.

    Call it in the transaction that stores the submission.
    """
    collection = submission.version.collection
    question_set = submission.version.question_set
    webhooks = find_subscribed_webhooks(question_set, COLLECTION_FULL)
    if not webhooks:
        return
    # The last two workers may submit at once, and neither transaction sees the other. So the second
    # waits here. The row of the collection would not do: whoever takes a place locks it before the
    # submission.
    rows = Webhook.objects.select_for_update().filter(pk__in=[webhook.pk for webhook in webhooks])
    list(rows.order_by("pk").values_list("pk"))
    if count_free_places(collection, NO_RESERVATIONS) > 0:
        return
    wanted = f"{collection.places}:{collection.answers_per_question or ''}"
    about = {
        "collection": {
            "id": str(collection.public_id),
            "places": collection.places,
            "answers_per_question": collection.answers_per_question,
        }
    }
    key = f"{collection.pk}:{wanted}"
    version = submission.version.number
    record_event(webhooks, COLLECTION_FULL, key, question_set, None, about, version)


def find_subscribed_webhooks(
    question_set: QuestionSet, event_type: str | None = None
) -> list[Webhook]:
    """Return the webhooks that are on, want the event type, and whose owner may edit the set.

    A webhook for all sets gets those that its owner owns or edits in a team. An operator gets
    another user's set only by a webhook for this set.
    """
    of_team = Membership.objects.filter(team=question_set.team_id, pending=False).values("user")
    candidates = (
        Webhook.objects.filter(off_at=None)
        .filter(
            Q(question_set=question_set)
            | Q(question_set=None, owner=question_set.owner_id)
            | Q(question_set=None, owner__in=of_team)
        )
        .select_related("owner")
        .order_by("pk")
    )
    return [
        webhook
        for webhook in candidates
        if (event_type is None or event_type in webhook.events)
        and may_receive_events(webhook, question_set.pk)
    ]


def may_receive_events(webhook: Webhook, question_set: int | None) -> bool:
    """Return whether the owner of a webhook may get events of a set, or any event for None."""
    if question_set is None:
        return bool(webhook.owner.is_active)
    return QuestionSet.objects.editable_by(webhook.owner).filter(pk=question_set).exists()


def record_event(
    webhooks: Sequence[Webhook],
    event_type: str,
    key: str,
    question_set: QuestionSet,
    run: Run | None,
    about: dict[str, Any],
    version: int | None = None,
) -> Event | None:
    """Store an event with a delivery for each webhook that wants its type.

    Returns None if no webhook wants it, or if an event of this `key` is stored already. `about` is
    added to the body of the event.
    """
    wanting = [webhook for webhook in webhooks if event_type in webhook.events]
    if not wanting:
        return None
    described = {
        "id": str(question_set.public_id),
        "name": question_set.name,
        "version": run.version.number if run is not None else version,
    }
    about = {"question_set": described, **about}
    event = _create_event(event_type, f"{event_type}:{key}", question_set, run, about)
    if event is not None:
        Delivery.objects.bulk_create(
            Delivery(webhook=webhook, event=event, next_at=event.created_at) for webhook in wanting
        )
    return event


def _create_event(
    event_type: str,
    key: str,
    question_set: QuestionSet | None,
    run: Run | None,
    about: dict[str, Any],
) -> Event | None:
    """Store an event with its body; return None if one with this key is stored already."""
    event = Event(type=event_type, key=key, question_set=question_set, run=run)
    now = timezone.now()
    event.body = json.dumps(
        {
            "id": str(event.public_id),
            "type": event_type,
            "created_at": now.isoformat(),
            **about,
        },
        ensure_ascii=False,
    )
    if Event.objects.filter(key=key).exists():
        return None
    # Of two that record the same at once, the unique key stores one.
    Event.objects.bulk_create([event], ignore_conflicts=True)
    return Event.objects.filter(public_id=event.public_id).first()


def _build_run_entry(run: Run) -> dict[str, Any]:
    """Return the entry on a run in an event's body: its id, name, type and state."""
    return {"id": str(run.public_id), "name": run.name, "type": run.kind, "state": run.state}


def _set_webhook_values(
    webhook: Webhook,
    name: str,
    url: str,
    events: Sequence[str],
    question_set: UUID | None,
) -> None:
    """Set the user's values on a webhook without saving; raise `WebhookError` if invalid."""
    check_webhook_url(url, build_address_check())
    if not events:
        raise WebhookError("no_events", "events")
    webhook.name, webhook.url = name, url
    # In one order, each once; others than these are refused by form and serializer.
    webhook.events = [one for one in EVENT_TYPES if one in events]
    if question_set is None:
        webhook.question_set = None
    elif webhook.question_set is None or webhook.question_set.public_id != question_set:
        # By the owner's rights, also if an operator changes it: to the owner the events go.
        rows = QuestionSet.objects.editable_by(webhook.owner)
        chosen = rows.filter(public_id=question_set).first()
        if chosen is None:
            raise WebhookError("unknown_set", "question_set")
        webhook.question_set = chosen


def _set_new_secret(webhook: Webhook) -> str:
    """Set a new salt and secret hash on a webhook without saving; return the secret."""
    webhook.salt = secrets.token_hex(16)
    secret = derive_secret(webhook)
    webhook.secret_hash = _hash_secret(secret)
    return secret


def _save_webhook(webhook: Webhook) -> None:
    """Save a webhook; raise `WebhookError` if its owner has another of this name."""
    try:
        # A savepoint: after the error the transaction around it could not continue.
        with transaction.atomic():
            webhook.save()
    except IntegrityError:
        raise WebhookError("name_taken", "name") from None


def _hash_secret(secret: str) -> str:
    """Return the SHA-256 of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()
