"""What the collecting costs so far and in the end, and what people earn in an hour."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from annotations.models import Collection

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Money:
    """Money in the collection's currency; `fee` is the panel's, in percent of the pay.

    Attributes
    ----------
    paid : people who handed in, also those who withdrew afterwards. so_far : their pay and fee.
    at_the_end : the same if every place is used. hourly : what half of the people earn at least in
        an hour, without the fee; None while nobody is done, or who was done took no time.
    least : what the requester wants them to earn at least; None where nobody said.
    """

    currency: str
    pay: Decimal
    fee: Decimal
    paid: int
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
    pay, fee = Decimal(str(collection.pay)), Decimal(str(collection.panel_fee))
    each = pay * (1 + fee / 100)
    hourly = _cents(pay * 60 / Decimal(str(minutes))) if minutes else None
    return Money(
        currency=collection.currency,
        pay=pay,
        fee=fee,
        paid=paid,
        so_far=_cents(each * paid),
        at_the_end=_cents(each * (paid + places_left)),
        hourly=hourly,
        least=collection.least_hourly_pay,
    )


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
