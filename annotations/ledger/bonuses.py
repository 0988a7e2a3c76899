"""Payments to workers: planned, confirmed by a user, sent once, settled by the panel's report.

Every change is a row of a ledger (`annotations.models.BonusPayment`). The row "sent" is stored
before the panel is asked to pay. If the process dies in between, a claimed payment is therefore
never sent again. A person finds out whether it arrived, and settles it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from annotations.ledger.decisions import load_decision_log, lock_submissions
from annotations.ledger.errors import (
    CurrencyError,
    NothingToSendError,
    OtherAmountError,
    OtherTotalError,
    PanelRefusedError,
    RoundError,
    UnsettledError,
)
from annotations.models import BonusPayment, Decision, QuestionSetVersion
from annotations.models import Collection as Collecting
from annotations.models.payments import PART as PART

Event = BonusPayment.Event
ROUND = "bonus"
"""The default round."""
LONGEST_ROUND = 60
"""Most characters of a round's name."""
BATCH = 500
"""Rows of one insert."""
NO_BATCH = UUID(int=0)
"""The id of a batch that was not sent."""
NO_CURRENCY = "no named currency"

STATES = {
    Event.PROPOSED: "planned",
    Event.CONFIRMED: "confirmed",
    Event.SENT: "sent",
    Event.UNKNOWN: "unknown",
    Event.PAID: "settled",
    Event.FAILED: "failed",
    Event.CANCELLED: "cancelled",
}
"""The state of a payment after each event. The last of these events that it has decides."""

ENDED_STATES = frozenset({"failed", "cancelled"})
"""In these states the same round may be paid again."""

UNRESOLVED_STATES = frozenset({"sent", "unknown"})
"""In these states it is not known whether the money arrived."""


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment to the worker of one submission, with its current state.

    `submission` is the submission's key, `person` its public id, `name` the worker's id on the
    panel. `state` is a value of `STATES`; `by` names the user who confirmed the payment.
    """

    id: UUID
    submission: int
    name: str
    panel: str
    amount: Decimal
    currency: str
    round: str
    attempt: int
    state: str
    batch: UUID | None
    by: str
    reason: str
    person: UUID
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class PaymentBatch:
    """Payments that were reserved together, to be sent to the panel as one list."""

    id: UUID
    payments: tuple[Payment, ...]

    @property
    def total(self) -> Decimal:
        """Sum of the amounts, without the panel's fee."""
        return sum((payment.amount for payment in self.payments), Decimal(0))


class Payer(Protocol):
    """Interface of objects that have a panel pay a batch."""

    def pay_batch(self, batch: PaymentBatch) -> str:
        """Pay all payments of a batch and return the panel's reference.

        Raises PanelRefusedError if the panel paid nothing. Any other error leaves open whether it
        paid.
        """


def load_payments(
    version: QuestionSetVersion | int,
    submissions: Collection[int] | None = None,
    round_: str | None = None,
) -> list[Payment]:
    """Return the payments to workers of a version, in the order of planning.

    `submissions` (keys) and `round_` restrict them.
    """
    rows = BonusPayment.objects.filter(submission__version=version).order_by("pk")
    if round_ is not None:
        rows = rows.filter(round=round_)
    if submissions is not None:
        rows = rows.filter(submission__in=submissions)
    entries: dict[UUID, list[BonusPayment]] = {}
    for row in rows.select_related("submission__worker", "actor"):
        entries.setdefault(row.payment, []).append(row)
    return [_build_payment(events) for events in entries.values()]


def split_confirmed_payments(
    payments: Iterable[Payment], log: Mapping[int, Sequence[Decision]] | None = None
) -> tuple[list[Payment], list[Payment]]:
    """Split the confirmed, unsent payments into those that can be sent and those held back.

    A payment is held back if the work was rejected after the payment was planned. If the work was
    already rejected then, the bonus was intended: no rule plans that. Pass as `log` the decisions
    of submissions with a confirmed payment (`build_confirmed_condition`) if they are loaded
    already.
    """
    waiting = [payment for payment in payments if payment.state == "confirmed"]
    if log is None:
        log = load_decision_log({payment.submission for payment in waiting})

    def is_held_back(payment: Payment) -> bool:
        """Return whether a rejection after the planning holds a payment back."""
        rows = log.get(payment.submission, ())
        if not rows or rows[-1].kind != Decision.Kind.REJECT:
            return False
        earlier_kinds = [row.kind for row in rows if row.created_at <= payment.planned_at]
        return earlier_kinds[-1:] != [Decision.Kind.REJECT]

    sendable: list[Payment] = []
    held_back: list[Payment] = []
    for payment in waiting:
        (held_back if is_held_back(payment) else sendable).append(payment)
    return sendable, held_back


def build_confirmed_condition(version: QuestionSetVersion) -> Q:
    """Return the query condition that a decision's submission has a confirmed payment."""
    rows = BonusPayment.objects.filter(submission__version=version, event=Event.CONFIRMED)
    return Q(submission__in=rows.values("submission"))


def is_in_round(payment: Payment, round_: str | None) -> bool:
    """Return whether a payment is in the round; for None, whether it is a bonus of any round."""
    return payment.round != PART if round_ is None else payment.round == round_


def find_currency(version: QuestionSetVersion) -> str:
    """Return the currency in which workers of a version are paid; "" if none is set."""
    currency = Collecting.objects.filter(version=version).values_list("currency", flat=True).first()
    return currency or ""


def validate_bonus_round(name: str) -> str:
    """Return a bonus round's name, stripped; raise RoundError if it is not allowed."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_ROUND:
        raise RoundError("round_too_long", most=LONGEST_ROUND)
    # Partial payments have rules of their own: they are left out of lists of bonuses, and not sent
    # once the worker is decided about.
    if name == PART:
        raise RoundError("round_of_parts", name=PART)
    return name


def plan_bonuses(
    version: QuestionSetVersion,
    amounts: dict[int, Decimal],
    user: Any,
    round_: str = ROUND,
    reason: str = "",
) -> int:
    """Plan a bonus for each submission (amounts by key), all or none; return how many are new.

    A payment of this round with the same amount stays, unless it is cancelled or failed.
    Raises OtherAmountError and WithdrawnError. Raises CurrencyError if the round has payments in
    another currency than the collection.
    """
    with transaction.atomic():
        # Lock the collection: a change of currency and other plans of this round must wait.
        list(Collecting.objects.select_for_update(of=("self",)).filter(version=version))
        lock_submissions(list(amounts))
        currency = find_currency(version)
        _refuse_other_currency(version, round_, currency)
        last_attempts: dict[int, Payment] = {}
        for payment in load_payments(version, list(amounts)):
            if payment.round == round_:
                last_attempts[payment.submission] = payment  # ordered: the last attempt wins
        entries = []
        for submission, amount in amounts.items():
            last = last_attempts.get(submission)
            if last is not None and last.state not in ENDED_STATES:
                # A repeated file is harmless. Another amount may be a correction: only a person
                # can decide whether it replaces the planned payment, after cancelling that.
                if last.amount != amount:
                    raise OtherAmountError(last)
                continue
            entries.append(
                BonusPayment(
                    payment=uuid.uuid4(),
                    event=Event.PROPOSED,
                    submission_id=submission,
                    amount=amount,
                    currency=currency,
                    reason=reason,
                    actor=user,
                    round=round_,
                    attempt=last.attempt + 1 if last else 1,
                )
            )
        BonusPayment.objects.bulk_create(entries, batch_size=BATCH)
        return len(entries)


def _refuse_other_currency(version: QuestionSetVersion, round_: str, currency: str) -> None:
    """Raise `CurrencyError` if the round has unfinished payments in another currency."""
    entries = BonusPayment.objects.filter(submission__version=version, round=round_)
    others = entries.exclude(currency=currency).values_list("currency", flat=True).distinct()
    if not others:
        return
    for payment in load_payments(version, round_=round_):
        if payment.currency != currency and payment.state not in ENDED_STATES:
            other_name, currency_name = (
                name or NO_CURRENCY for name in (payment.currency, currency)
            )
            raise CurrencyError("other_currency", round=round_, there=other_name, now=currency_name)


def confirm_payments(
    version: QuestionSetVersion,
    user: Any,
    round_: str | None = None,
    submissions: Collection[int] | None = None,
) -> PaymentBatch:
    """Confirm the planned payments of a round and return them.

    Without a round, all bonuses and no partial payments. Raises CurrencyError if they have several
    currencies, which have no sum.
    """
    return _advance_payments(version, {"planned"}, Event.CONFIRMED, user, round_, submissions)


def cancel_payments(
    version: QuestionSetVersion, user: Any, round_: str | None = None
) -> PaymentBatch:
    """Cancel unsent payments and return them; the same round can be planned again.

    Without a round, all bonuses and no partial payments.
    """
    return _advance_payments(version, {"planned", "confirmed"}, Event.CANCELLED, user, round_)


def claim_payments(
    version: QuestionSetVersion,
    user: Any,
    round_: str | None = None,
    most: int | None = None,
    total: Decimal | None = None,
    submissions: Collection[int] | None = None,
) -> PaymentBatch:
    """Reserve confirmed payments for sending, each only once; return them as a batch.

    At most `most`, the oldest first; restricted to `submissions` if these are passed. Without a
    round, all bonuses and no partial payments. Raises OtherTotalError if their sum is not
    `total`, and CurrencyError if they have several currencies.
    """
    with transaction.atomic():
        batch = _advance_payments(
            version, {"confirmed"}, Event.SENT, user, round_, submissions, uuid.uuid4(), most
        )
        # Raised inside the transaction, so that the claim is rolled back.
        if batch.payments and total is not None and batch.total != total:
            raise OtherTotalError(total, batch.total)
        return batch


def load_claimed_batch(version: QuestionSetVersion, batch: UUID) -> PaymentBatch:
    """Return the payments of a reserved batch, to write its list again; empty if unknown."""
    payments = tuple(payment for payment in load_payments(version) if payment.batch == batch)
    return PaymentBatch(batch, payments)


def claim_and_pay(
    version: QuestionSetVersion,
    user: Any,
    payer: Payer,
    round_: str | None = None,
    *,
    most: int | None = None,
    total: Decimal | None = None,
    submissions: Collection[int] | None = None,
) -> PaymentBatch:
    """Reserve confirmed payments, have a panel pay them, and store the result; return the batch.

    Each payment is requested at most once, also after repeated clicks or a crash. Raises
    NothingToSendError, and the errors of `pay_claimed_batch`.
    """
    batch = claim_payments(version, user, round_, most, total, submissions)
    return pay_claimed_batch(batch, user, payer)


def pay_claimed_batch(batch: PaymentBatch, user: Any, payer: Payer) -> PaymentBatch:
    """Have a panel pay a reserved batch, at most once; store the result and return the batch.

    Raises NothingToSendError for an empty batch. Errors of the panel are raised again, after the
    payments were marked failed (PanelRefusedError) or unknown (any other error).
    """
    if not batch.payments:
        raise NothingToSendError
    try:
        reference = payer.pay_batch(batch)
    # Only a refusal proves that no money moved. After any other error the panel may have paid,
    # so the state is unknown, and a person must look there.
    except PanelRefusedError:
        add_payment_event(batch.payments, Event.FAILED, user)
        raise
    except Exception as error:
        add_payment_event(batch.payments, Event.UNKNOWN, user, getattr(error, "reference", ""))
        raise
    # If this write fails, the payments stay "sent", and a person settles them as after a crash.
    add_payment_event(batch.payments, Event.PAID, user, reference)
    return batch


def store_panel_reports(
    version: QuestionSetVersion, user: Any, reports: dict[UUID, tuple[Event, str]]
) -> tuple[int, int]:
    """Store a panel's reports (paid or failed) by payment; return how many are new and known.

    Raises UnsettledError for a payment that was never sent or has the opposite report; nothing is
    stored then.
    """
    with transaction.atomic():
        known = {payment.id: payment for payment in load_payments(version)}
        # Withdrawn workers are locked too: their payment may have been sent before they withdrew.
        locked_payments = [known[key] for key in reports if key in known]
        lock_submissions([payment.submission for payment in locked_payments], also_withdrawn=True)
        # Read again under the lock.
        known = {payment.id: payment for payment in load_payments(version)}
        n_new = 0
        for key, (event, reference) in reports.items():
            payment = known.get(key)
            if payment is None:
                raise UnsettledError(key, "no_payment", is_there=False)
            # The same report twice, as when a file is imported again, changes nothing.
            if payment.state == STATES[event]:
                continue
            if payment.state not in UNRESOLVED_STATES:
                raise UnsettledError(
                    key, "settled_otherwise", state=payment.state, event=str(event)
                )
            add_payment_event([payment], event, user, reference)
            n_new += 1
        return n_new, len(reports) - n_new


def add_payment_event(
    payments: Iterable[Payment],
    event: Event,
    user: Any,
    reference: str = "",
    batch: UUID | None = None,
) -> None:
    """Store an event for each payment; raise `IntegrityError` if one is already stored."""
    entries = [
        BonusPayment(
            payment=payment.id,
            event=event,
            submission_id=payment.submission,
            amount=payment.amount,
            currency=payment.currency,
            actor=user,
            reference=reference,
            round=payment.round,
            attempt=payment.attempt,
            batch=batch,
        )
        for payment in payments
    ]
    # The unique constraint on (payment, event) is the last guard against paying twice. A savepoint
    # keeps the caller's transaction usable after its error.
    with transaction.atomic():
        BonusPayment.objects.bulk_create(entries, batch_size=BATCH)


def _advance_payments(
    version: QuestionSetVersion,
    states: set[str],
    event: Event,
    user: Any,
    round_: str | None = None,
    submissions: Collection[int] | None = None,
    batch: UUID | None = None,
    most: int | None = None,
) -> PaymentBatch:
    """Add an event to the payments of a round that are in given states; return them as a batch.

    Locks their submissions. The arguments are those of `claim_payments`.
    """

    def select_payments() -> Sequence[Payment]:
        """Return the payments in the given states and round."""
        payments = [
            payment
            for payment in load_payments(version, submissions)
            if payment.state in states and is_in_round(payment, round_)
        ]
        return (split_confirmed_payments(payments)[0] if event == Event.SENT else payments)[:most]

    with transaction.atomic():
        keys = {payment.submission for payment in select_payments()}
        lock_submissions(list(keys), also_withdrawn=True)
        # Read again: while we waited for the lock, another process may have changed the states.
        payments = [payment for payment in select_payments() if payment.submission in keys]
        currencies = sorted({payment.currency for payment in payments})
        # A cancellation moves no money and is the way out of a round of several currencies.
        if len(currencies) > 1 and event != Event.CANCELLED:
            raise CurrencyError(
                "several_currencies",
                currencies=", ".join(name or NO_CURRENCY for name in currencies),
            )
        add_payment_event(payments, event, user, batch=batch)
    return PaymentBatch(batch or NO_BATCH, tuple(payments))


def _build_payment(entries: Sequence[BonusPayment]) -> Payment:
    """Return a payment built from its ledger rows, oldest row first."""
    by_event = {row.event: row for row in entries}
    # By the order of `STATES` and not by time: after "unknown" a report decides, whenever it came.
    last = [event for event in STATES if event in by_event][-1]
    first, confirmed = entries[0], by_event.get(Event.CONFIRMED)
    worker = first.submission.worker
    return Payment(
        id=first.payment,
        submission=first.submission_id,
        name=worker.external_id,
        panel=worker.panel,
        amount=first.amount,
        currency=first.currency,
        round=first.round,
        attempt=first.attempt,
        state=STATES[last],
        batch=by_event[Event.SENT].batch if Event.SENT in by_event else None,
        by=confirmed.actor.get_username() if confirmed and confirmed.actor else "",
        reason=first.reason,
        person=first.submission.public_id,
        planned_at=first.created_at,
    )
