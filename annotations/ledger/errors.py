"""Errors of payments, with the codes of their sentences in `annotations.ledger.sentences`."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from annotations.ledger.sentences import PAYMENTS
from annotations.sentences import CodedError


class OtherAmountError(CodedError, ValueError):
    """The worker has a payment of this round with another amount (`payment`, a `Payment`)."""

    sentences = PAYMENTS

    def __init__(self, payment: Any) -> None:
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
    """A round of bonuses cannot have this name."""

    sentences = PAYMENTS


class NothingToSendError(RuntimeError):
    """There is no confirmed payment that was not sent."""


class UnsettledError(CodedError, ValueError):
    """A report about a payment contradicts its state.

    `payment` is its id; `is_there` is False if the version has no such payment.
    """

    sentences = PAYMENTS

    def __init__(self, payment: UUID, code: str, *, is_there: bool = True, **values: Any) -> None:
        super().__init__(code, payment=payment, **values)
        self.payment, self.is_there = payment, is_there


class OtherTotalError(CodedError, ValueError):
    """The total that a person confirmed (`said`) differs from `total`, that of the payments."""

    sentences = PAYMENTS

    def __init__(self, expected: Decimal, total: Decimal) -> None:
        super().__init__("other_total", said=expected, total=total)
        self.said, self.total = expected, total


class PanelRefusedError(CodedError, RuntimeError):
    """The panel reported that it paid nothing."""

    sentences = PAYMENTS
