"""Bonuses: planned, confirmed by a person, sent once, and what the panel said of them.

Everything is an entry of a ledger (`annotations.models.BonusPayment`). What is sent is claimed
before: the entry "sent" is stored, then the panel is asked. Whatever dies in between, a payment
that was claimed is never sent again; whether it arrived a person finds out, and settles it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction

from annotations.ledger.deciding import locked, log_of, newest_of
from annotations.ledger.sentences import PAYMENTS
from annotations.models import BonusPayment, Decision, QuestionSetVersion
from annotations.models import Collection as Collecting
from annotations.models.payments import PART as PART
from annotations.sentences import CodedError

Event = BonusPayment.Event
ROUND = "bonus"
LONGEST_ROUND = 60
BATCH = 500
NO_BATCH = UUID(int=0)
UNNAMED = "no named currency"

STATES = {
    Event.PROPOSED: "planned",
    Event.CONFIRMED: "confirmed",
    Event.SENT: "sent",
    Event.UNKNOWN: "unknown",
    Event.PAID: "settled",
    Event.FAILED: "failed",
    Event.CANCELLED: "cancelled",
}
"""What a payment is after each event; the last of these that stands there says it."""

OVER = frozenset({"failed", "cancelled"})
"""After these the same round may be paid anew."""

ON_THE_WAY = frozenset({"sent", "unknown"})
"""Of these nobody here knows whether the money arrived."""


class OtherAmountError(CodedError, ValueError):
    """A payment of this round stands there with another amount; `payment` is it."""

    sentences = PAYMENTS

    def __init__(self, payment: Payment) -> None:
        super().__init__(
            "other_amount",
            name=payment.name,
            amount=payment.amount,
            round=payment.round,
            state=payment.state,
        )
        self.payment = payment


class CurrencyError(CodedError, ValueError):
    """Payments of two currencies would be planned, confirmed or sent together."""

    sentences = PAYMENTS


class RoundError(CodedError, ValueError):
    """A name that no round of bonuses can have."""

    sentences = PAYMENTS


class NothingToSendError(RuntimeError):
    """No payment is confirmed and not sent."""


class UnsettledError(CodedError, ValueError):
    """What is told of a payment does not go with where it stands.

    `payment` is its id; `is_there` says whether there is such a payment at all.
    """

    sentences = PAYMENTS

    def __init__(self, payment: UUID, code: str, *, is_there: bool = True, **values: Any) -> None:
        super().__init__(code, payment=payment, **values)
        self.payment, self.is_there = payment, is_there


class OtherTotalError(CodedError, ValueError):
    """The sum that a person `said` is not that of what would be done; `total` is."""

    sentences = PAYMENTS

    def __init__(self, said: Decimal, total: Decimal) -> None:
        super().__init__("other_total", said=said, total=total)
        self.said, self.total = said, total


class PanelRefusedError(CodedError, RuntimeError):
    """The panel said that it paid nothing."""

    sentences = PAYMENTS


@dataclass(frozen=True, slots=True)
class Payment:
    """A bonus to the worker of a submission, and where it stands (the values of `STATES`).

    `submission` is its key, `person` its public id; `by` is who confirmed it.
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
class Batch:
    """Payments that were claimed together, to be sent by one list."""

    id: UUID
    payments: tuple[Payment, ...]

    @property
    def total(self) -> Decimal:
        """The sum, without the panel's fee."""
        return sum((one.amount for one in self.payments), Decimal(0))


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Payments that a person said yes to and that are not sent: those that may be, and the rest."""

    sendable: list[Payment]
    held_back: list[Payment]


class Payer(Protocol):
    """What brings a batch to a panel."""

    def pay(self, batch: Batch) -> str:
        """Return the panel's reference once it has paid all of it.

        Raises PanelRefusedError where it said that it paid nothing; any other error leaves open
        whether it did.
        """


def payments_of(
    version: QuestionSetVersion | int,
    submissions: Collection[int] | None = None,
    round_: str | None = None,
) -> list[Payment]:
    """Return the payments to people of a version, in the order in which they were planned."""
    rows = BonusPayment.objects.filter(submission__version=version).order_by("pk")
    if round_ is not None:
        rows = rows.filter(round=round_)
    if submissions is not None:
        rows = rows.filter(submission__in=submissions)
    entries: dict[UUID, list[BonusPayment]] = {}
    for row in rows.select_related("submission__worker", "actor"):
        entries.setdefault(row.payment, []).append(row)
    return [_payment(of) for of in entries.values()]


def confirmed(payments: Iterable[Payment]) -> Confirmed:
    """Return those that are confirmed, by whether they may be sent.

    Held back is whose work was rejected since the planning. Of somebody who was rejected when the
    bonus was planned it is meant so: no rule plans that.
    """
    found = [one for one in payments if one.state == "confirmed"]
    newest = newest_of({one.submission for one in found})
    rejected = {key for key, row in newest.items() if row.kind == Decision.Kind.REJECT}
    log = log_of(rejected)

    def is_held_back(one: Payment) -> bool:
        if one.submission not in rejected:
            return False
        stood = [row.kind for row in log[one.submission] if row.created_at <= one.planned_at]
        return stood[-1:] != [Decision.Kind.REJECT]

    sendable: list[Payment] = []
    held_back: list[Payment] = []
    for one in found:
        (held_back if is_held_back(one) else sendable).append(one)
    return Confirmed(sendable, held_back)


def is_of(payment: Payment, round_: str | None) -> bool:
    """Whether a payment is of a round; without one, whether it is no part of the pay."""
    return payment.round != PART if round_ is None else payment.round == round_


def currency_of(version: QuestionSetVersion) -> str:
    """Return in what people of a version are paid; "" where nobody said."""
    found = Collecting.objects.filter(version=version).values_list("currency", flat=True).first()
    return found or ""


def of_bonus(name: str) -> str:
    """Return the name of a round of bonuses as it is kept. Raises RoundError."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_ROUND:
        raise RoundError("round_too_long", most=LONGEST_ROUND)
    if name == PART:
        raise RoundError("round_of_parts", name=PART)
    return name


def plan(
    version: QuestionSetVersion,
    amounts: dict[int, Decimal],
    user: Any,
    round_: str = ROUND,
    reason: str = "",
) -> int:
    """Plan a bonus for each submission (by its key), all or none; return how many are new.

    Who has one of this round with the same amount, that is not cancelled or failed, keeps it.
    Raises OtherAmountError, CurrencyError where the round has payments in another currency than
    that of the collection, and WithdrawnError.
    """
    with transaction.atomic():
        # Who changes the currency waits, and so does who plans the same round for others.
        list(Collecting.objects.select_for_update(of=("self",)).filter(version=version))
        locked(list(amounts))
        currency = currency_of(version)
        _refuse_other_currency(version, round_, currency)
        before: dict[int, Payment] = {}
        for one in payments_of(version, list(amounts)):
            if one.round == round_:
                before[one.submission] = one  # the last attempt comes last
        rows = []
        for submission, amount in amounts.items():
            last = before.get(submission)
            if last is not None and last.state not in OVER:
                if last.amount != amount:
                    raise OtherAmountError(last)
                continue
            rows.append(
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
        BonusPayment.objects.bulk_create(rows, batch_size=BATCH)
        return len(rows)


def _refuse_other_currency(version: QuestionSetVersion, round_: str, currency: str) -> None:
    of_round = BonusPayment.objects.filter(submission__version=version, round=round_)
    others = of_round.exclude(currency=currency).values_list("currency", flat=True).distinct()
    if not others:
        return
    for one in payments_of(version, round_=round_):
        if one.currency != currency and one.state not in OVER:
            there, now = (name or UNNAMED for name in (one.currency, currency))
            raise CurrencyError("other_currency", round=round_, there=there, now=now)


def confirm(
    version: QuestionSetVersion,
    user: Any,
    round_: str | None = None,
    submissions: Collection[int] | None = None,
) -> Batch:
    """Say as a person that planned payments are to be paid, and return them.

    Without a round those of all bonuses, and no part of the pay. Raises CurrencyError where they
    have several currencies, which no sum has.
    """
    return _advance(version, {"planned"}, Event.CONFIRMED, user, round_, submissions)


def cancel(version: QuestionSetVersion, user: Any, round_: str | None = None) -> Batch:
    """Cancel what was not sent, and return it; the same round can be planned anew then.

    Without a round that of all bonuses, and no part of the pay.
    """
    return _advance(version, {"planned", "confirmed"}, Event.CANCELLED, user, round_)


def claim(
    version: QuestionSetVersion,
    user: Any,
    round_: str | None = None,
    most: int | None = None,
    total: Decimal | None = None,
    submissions: Collection[int] | None = None,
) -> Batch:
    """Take what may be sent (`confirmed`) to be sent now: nobody else gets any of it, at no time.

    At most `most`, the oldest first, and those of `submissions` only where they are given. Without
    a round all bonuses, and no part of the pay. Raises OtherTotalError where their sum is not
    `total`, and CurrencyError where they have several currencies.
    """
    with transaction.atomic():
        batch = _advance(
            version, {"confirmed"}, Event.SENT, user, round_, submissions, uuid.uuid4(), most
        )
        if batch.payments and total is not None and batch.total != total:
            raise OtherTotalError(total, batch.total)
        return batch


def claimed(version: QuestionSetVersion, batch: UUID) -> Batch:
    """Return what was claimed together, to write its list once more; without payments if none."""
    found = tuple(one for one in payments_of(version) if one.batch == batch)
    return Batch(batch, found)


def pay(
    version: QuestionSetVersion,
    user: Any,
    payer: Payer,
    round_: str | None = None,
    *,
    most: int | None = None,
    total: Decimal | None = None,
    submissions: Collection[int] | None = None,
) -> Batch:
    """Claim confirmed payments (as `claim` does), have a panel pay them, and settle them.

    Each payment is asked for at most once, whoever presses how often, and wherever this dies.
    Raises NothingToSendError, and what `hand_over` does.
    """
    batch = claim(version, user, round_, most, total, submissions)
    return hand_over(batch, user, payer)


def hand_over(batch: Batch, user: Any, payer: Payer) -> Batch:
    """Have a panel pay what was claimed, and settle it. To be called once for each batch.

    Raises NothingToSendError where nothing was; what the panel raises is let out, after the
    payments were noted as failed (PanelRefusedError) or unknown (anything else).
    """
    if not batch.payments:
        raise NothingToSendError
    try:
        reference = payer.pay(batch)
    except PanelRefusedError:
        note(batch.payments, Event.FAILED, user)
        raise
    except Exception as error:
        note(batch.payments, Event.UNKNOWN, user, getattr(error, "reference", ""))
        raise
    note(batch.payments, Event.PAID, user, reference)
    return batch


def settle(
    version: QuestionSetVersion, user: Any, told: dict[UUID, tuple[Event, str]]
) -> tuple[int, int]:
    """Keep what a panel said of payments that were sent, by their ids: paid or failed.

    Returns how many are new and how many stood there so already. Raises UnsettledError for a
    payment that was never sent, or of which the opposite was said; nothing is kept then.
    """
    with transaction.atomic():
        known = {one.id: one for one in payments_of(version)}
        locked_payments = [known[key] for key in told if key in known]
        locked([one.submission for one in locked_payments], also_withdrawn=True)
        known = {one.id: one for one in payments_of(version)}  # as they are now
        new = 0
        for key, (event, reference) in told.items():
            one = known.get(key)
            if one is None:
                raise UnsettledError(key, "no_payment", is_there=False)
            if one.state == STATES[event]:
                continue
            if one.state not in ON_THE_WAY:
                raise UnsettledError(key, "settled_otherwise", state=one.state, event=str(event))
            note([one], event, user, reference)
            new += 1
        return new, len(told) - new


def note(
    payments: Iterable[Payment],
    event: Event,
    user: Any,
    reference: str = "",
    batch: UUID | None = None,
) -> None:
    """Add an entry to each payment; IntegrityError where the event stands there already."""
    rows = [
        BonusPayment(
            payment=one.id,
            event=event,
            submission_id=one.submission,
            amount=one.amount,
            currency=one.currency,
            actor=user,
            reference=reference,
            round=one.round,
            attempt=one.attempt,
            batch=batch,
        )
        for one in payments
    ]
    with transaction.atomic():
        BonusPayment.objects.bulk_create(rows, batch_size=BATCH)


def _advance(
    version: QuestionSetVersion,
    states: set[str],
    event: Event,
    user: Any,
    round_: str | None = None,
    submissions: Collection[int] | None = None,
    batch: UUID | None = None,
    most: int | None = None,
) -> Batch:
    """Add an event to all payments in some states (`is_of` a round), locking their submissions."""

    def those() -> Sequence[Payment]:
        found = [
            one
            for one in payments_of(version, submissions)
            if one.state in states and is_of(one, round_)
        ]
        return (confirmed(found).sendable if event == Event.SENT else found)[:most]

    with transaction.atomic():
        held = {one.submission for one in those()}
        locked(list(held), also_withdrawn=True)
        # Anew: who waited for the lock would otherwise go on with what stood there before.
        found = [one for one in those() if one.submission in held]
        currencies = sorted({one.currency for one in found})
        if len(currencies) > 1 and event != Event.CANCELLED:
            raise CurrencyError(
                "several_currencies", currencies=", ".join(one or UNNAMED for one in currencies)
            )
        note(found, event, user, batch=batch)
    return Batch(batch or NO_BATCH, tuple(found))


def _payment(entries: Sequence[BonusPayment]) -> Payment:
    events = {row.event: row for row in entries}
    last = [event for event in STATES if event in events][-1]
    first, confirmed = entries[0], events.get(Event.CONFIRMED)
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
        batch=events[Event.SENT].batch if Event.SENT in events else None,
        by=confirmed.actor.get_username() if confirmed and confirmed.actor else "",
        reason=first.reason,
        person=first.submission.public_id,
        planned_at=first.created_at,
    )
