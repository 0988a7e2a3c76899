"""What the collecting costs so far and in the end, and what people earn in an hour."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db.models import OuterRef, Subquery

from annotations.exchange.prolific import PAID_A_PART
from annotations.models import BonusPayment, Collection, PanelStatus, Submission
from annotations.models.payments import PART

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Money:
    """Money in the collection's currency; `fee` is the panel's, in percent of the pay.

    Attributes
    ----------
    paid : people who handed in, also those who withdrew afterwards. so_far : their pay and fee, and
        the parts of the pay. parts : people who get a part in its place, or without handing in.
    at_the_end : the same if every place is used. hourly : what half of the people earn at least in
        an hour, without the fee; None while nobody is done, or who was done took no time.
    least : what the requester wants them to earn at least; None where nobody said.
    """

    currency: str
    pay: Decimal
    fee: Decimal
    paid: int
    parts: int
    so_far: Decimal
    at_the_end: Decimal
    hourly: Decimal | None
    least: Decimal | None

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
    collection: Collection, paid: int, places_left: int, minutes: float | None
) -> Money | None:
    """Return what it costs; None where nobody said what is paid.

    `paid` people have handed in, `places_left` more may; `minutes` is the median time they took.
    """
    if collection.pay is None:
        return None
    in_place, beside = _parts(collection)
    pay, fee = Decimal(str(collection.pay)), Decimal(str(collection.panel_fee))
    each = pay * (1 + fee / 100)
    of_parts = sum((*in_place, *beside), Decimal(0)) * (1 + fee / 100)
    hourly = _cents(pay * 60 / Decimal(str(minutes))) if minutes else None
    return Money(
        currency=collection.currency,
        pay=pay,
        fee=fee,
        paid=paid,
        parts=len(in_place) + len(beside),
        so_far=_cents(each * (paid - len(in_place)) + of_parts),
        at_the_end=_cents(each * (paid - len(in_place) + places_left) + of_parts),
        hourly=hourly,
        least=collection.least_hourly_pay,
    )


def _parts(collection: Collection) -> tuple[list[Decimal], list[Decimal]]:
    """Return the parts of people who handed in, in place of their pay, and those of others.

    Who handed in gets a part where one stands in the ledger, or where the panel says that it paid
    one: how much it does not say, so that of the settings counts, and the whole pay without one.
    Who did not pass the practice gets what the settings say, if anything.
    """
    version = collection.version_id
    ended = Submission.objects.filter(version=version, source=Submission.Source.COLLECTED)
    done = ended.filter(submitted_at__isnull=False)
    newest = PanelStatus.objects.filter(submission=OuterRef("pk")).order_by("-pk")
    stands = done.annotate(stands=Subquery(newest.values("status")[:1]))
    told = set(stands.filter(stands__in=PAID_A_PART).values_list("pk", flat=True))
    usual = collection.failed_checks_pay or collection.screened_out_pay or collection.pay
    amounts: dict[int, Any] = dict.fromkeys(told, usual)
    if collection.screened_out_pay is not None:
        screened = ended.filter(state=Submission.State.SCREENED_OUT).values_list("pk", flat=True)
        amounts |= dict.fromkeys(screened, collection.screened_out_pay)
    of_ledger = done.filter(bonus_payments__round=PART).values_list("pk", flat=True)
    handed_in = told | set(of_ledger)
    amounts |= _of_ledger(version)
    in_place = [Decimal(str(part)) for key, part in amounts.items() if key in handed_in]
    beside = [Decimal(str(part)) for key, part in amounts.items() if key not in handed_in]
    return in_place, beside


def _of_ledger(version: int) -> dict[int, Decimal]:
    """Return the parts that are neither failed nor cancelled, by the keys of submissions."""
    over = (BonusPayment.Event.FAILED, BonusPayment.Event.CANCELLED)
    of_parts = BonusPayment.objects.filter(submission__version=version, round=PART)
    gone = of_parts.filter(event__in=over).values("payment")
    return dict(of_parts.exclude(payment__in=gone).values_list("submission", "amount"))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
