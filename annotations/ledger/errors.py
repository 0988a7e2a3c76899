"""Errors of payments; `annotations.ledger.sentences` has the message of each code."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from annotations.ledger.sentences import PAYMENTS
from annotations.sentences import CodedError


class OtherAmountError(CodedError, ValueError):
    """Error: the worker already has a payment in this round, with another amount."""

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
    """Error: payments in two currencies would be planned, confirmed or sent together."""

    sentences = PAYMENTS


class RoundError(CodedError, ValueError):
    """Error for a bonus round's name that is empty, too long or reserved."""

    sentences = PAYMENTS


class NothingToSendError(RuntimeError):
    """Error: no confirmed payment can be sent."""


class UnsettledError(CodedError, ValueError):
    """Error: a panel's report contradicts the state of a payment.

    `payment` is its id; `is_there` is False if the version has no such payment.
    """

    sentences = PAYMENTS

    def __init__(self, payment: UUID, code: str, *, is_there: bool = True, **values: Any) -> None:
        super().__init__(code, payment=payment, **values)
        self.payment, self.is_there = payment, is_there


class OtherTotalError(CodedError, ValueError):
    """Error: the total that the user confirmed (`said`) is not the actual `total`."""

    sentences = PAYMENTS

    def __init__(self, expected: Decimal, total: Decimal) -> None:
        super().__init__("other_total", said=expected, total=total)
        self.said, self.total = expected, total


class PanelRefusedError(CodedError, RuntimeError):
    """Error: the panel reports that it paid none of the payments."""

    sentences = PAYMENTS
