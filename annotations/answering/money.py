"""What the collecting costs so far and in the end, and what people earn in an hour.

Bonuses are not in it: they are no part of what the settings promise, and stand in the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from annotations.exchange.prolific import PAID_A_PART, REJECT, REJECTED, SETTLED
from annotations.models import BonusPayment, Collection, Decision, PanelStatus, Submission
from annotations.models.payments import PART

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Money:
    """Money in the collection's currency; `fee` is the panel's, in percent of the pay.

    Attributes
    ----------
    paid : people who handed in and are not rejected, also those who withdrew afterwards.
    rejected : those who are, by the panel where it has settled that, else by what was decided last.
    so_far : the pay and fee of the paid, and the parts of the pay; no bonuses.
    parts : people who get a part in place of the pay, or without handing in.
    at_the_end : the same if every place is used. hourly : what half of the people earn at least in
        an hour, without the fee; None while nobody is done, or who was done took no time.
    least : what the requester wants them to earn at least; None where nobody said.
    """

    currency: str
    pay: Decimal
    fee: Decimal
    paid: int
    rejected: int
    parts: int
    so_far: Decimal
    at_the_end: Decimal
    hourly: Decimal | None
    least: Decimal | None

    @property
    def handed_in(self) -> int:
        """People who did, also those who withdrew afterwards."""
        return self.paid + self.rejected

    @property
    def is_too_little(self) -> bool:
        """Whether people earn less than the requester wants."""
        return self.hourly is not None and self.least is not None and self.hourly < self.least

    def as_dict(self) -> dict[str, Any]:
        """For programs: amounts as numbers."""
        return {
            "currency": self.currency,
            "pay": float(self.pay),
            "fee_percent": float(self.fee),
            "paid": self.paid,
            "parts": self.parts,
            "so_far": float(self.so_far),
            "at_the_end": float(self.at_the_end),
            "hourly": None if self.hourly is None else float(self.hourly),
            "hourly_by": "server",
            "least_hourly": None if self.least is None else float(self.least),
            "is_too_little": self.is_too_little,
        }


def money(
    collection: Collection, handed_in: int, places_left: int, minutes: float | None
) -> Money | None:
    """Return what it costs; None where nobody said what is paid.

    `handed_in` people have, `places_left` more may; `minutes` is the median time they took.
    """
    if collection.pay is None:
        return None
    in_place, beside, rejected = _parts(collection)
    paid = handed_in - rejected
    pay, fee = Decimal(str(collection.pay)), Decimal(str(collection.panel_fee))
    each = pay * (1 + fee / 100)
    of_parts = sum((*in_place, *beside), Decimal(0)) * (1 + fee / 100)
    hourly = _cents(pay * 60 / Decimal(str(minutes))) if minutes else None
    return Money(
        currency=collection.currency,
        pay=pay,
        fee=fee,
        paid=paid,
        rejected=rejected,
        parts=len(in_place) + len(beside),
        so_far=_cents(each * (paid - len(in_place)) + of_parts),
        at_the_end=_cents(each * (paid - len(in_place) + places_left) + of_parts),
        hourly=hourly,
        least=collection.least_hourly_pay,
    )


def _parts(collection: Collection) -> tuple[list[Decimal], list[Decimal], int]:
    """Return the parts of people who handed in, in place of their pay, and those of others.

    Who handed in gets a part where one stands in the ledger, or where the panel says that it paid
    one: how much it does not say, so that of the settings counts, and the whole pay without one.
    Who did not pass the practice gets what the settings say, if anything. The third is how many
    handed in, are rejected, and so get nothing; what was sent before stays paid.
    """
    version = collection.version_id
    ended = Submission.objects.filter(version=version, source=Submission.Source.COLLECTED)
    done = ended.filter(submitted_at__isnull=False)
    told, rejected = _settled(done)
    usual = collection.failed_checks_pay or collection.screened_out_pay or collection.pay
    amounts: dict[int, Any] = dict.fromkeys(told, usual)
    if collection.screened_out_pay is not None:
        screened = ended.filter(state=Submission.State.SCREENED_OUT).values_list("pk", flat=True)
        amounts |= dict.fromkeys(screened, collection.screened_out_pay)
    of_ledger = done.filter(bonus_payments__round=PART).values_list("pk", flat=True)
    handed_in = told | set(of_ledger)
    parts, sent = _of_ledger(version)
    unpaid = rejected - sent
    amounts |= {key: part for key, part in parts.items() if key not in unpaid}
    in_place = [Decimal(str(part)) for key, part in amounts.items() if key in handed_in]
    beside = [Decimal(str(part)) for key, part in amounts.items() if key not in handed_in]
    return in_place, beside, len(unpaid)


def _settled(done: QuerySet[Submission, Submission]) -> tuple[set[int], set[int]]:
    """Return whom the panel paid a part, and who is rejected: there, or by what counts here."""
    of = {"submission": OuterRef("pk")}
    status = PanelStatus.objects.filter(**of).order_by("-pk").values("status")[:1]
    decided = Decision.objects.filter(**of).order_by("-pk").values("kind")[:1]
    rows = done.annotate(status=Subquery(status), decided=Subquery(decided)).filter(
        Q(status__in=(*PAID_A_PART, REJECTED)) | Q(decided=REJECT)
    )
    told, rejected = set(), set()
    for key, stands, kind in rows.values_list("pk", "status", "decided"):
        if stands in PAID_A_PART:
            told.add(key)
        # What the panel has settled no decision changes: the lists for it leave these out.
        elif stands == REJECTED or (kind == REJECT and stands not in SETTLED):
            rejected.add(key)
    return told, rejected


def _of_ledger(version: int) -> tuple[dict[int, Decimal], set[int]]:
    """Return the parts that are neither failed nor cancelled, by the keys of submissions.

    The second are the keys of those whose part was sent.
    """
    over = (BonusPayment.Event.FAILED, BonusPayment.Event.CANCELLED)
    of_parts = BonusPayment.objects.filter(submission__version=version, round=PART)
    gone = of_parts.filter(event__in=over).values("payment")
    rows = of_parts.exclude(payment__in=gone).values_list("submission", "amount", "event")
    found = list(rows)
    sent = {key for key, _, event in found if event == BonusPayment.Event.SENT}
    return {key: amount for key, amount, _ in found}, sent


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
