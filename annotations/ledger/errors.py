"""Errors of payments; `annotations.ledger.sentences` has the message of each code."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from annotations.ledger.sentences import PAYMENTS
from annotations.sentences import CodedError


class OtherAmountError(CodedError, ValueError):
    """The worker has a `payment` in this round already, with another amount."""

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
    """Payments in two currencies would be planned, confirmed or sent together."""

    sentences = PAYMENTS


class RoundError(CodedError, ValueError):
    """The name of a bonus round is empty, too long or reserved."""

    sentences = PAYMENTS


class NothingToSendError(RuntimeError):
    """There are no confirmed payments that can be sent."""


class UnsettledError(CodedError, ValueError):
    """A panel's report on a payment contradicts the payment's state.

    `payment` is its id; `is_there` is False if the version has no such payment.
    """

    sentences = PAYMENTS

    def __init__(self, payment: UUID, code: str, *, is_there: bool = True, **values: Any) -> None:
        super().__init__(code, payment=payment, **values)
        self.payment, self.is_there = payment, is_there


class OtherTotalError(CodedError, ValueError):
    """The total that the user confirmed (`said`) differs from the actual `total`."""

    sentences = PAYMENTS

    def __init__(self, expected: Decimal, total: Decimal) -> None:
        super().__init__("other_total", said=expected, total=total)
        self.said, self.total = expected, total


class PanelRefusedError(CodedError, RuntimeError):
    """The panel reported that it paid none of the payments."""

    sentences = PAYMENTS
