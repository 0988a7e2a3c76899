"""Parse amounts of money in files and forms, with at most two decimal places."""

from __future__ import annotations

import re
from decimal import Decimal

from annotations.exchange.sentences import AMOUNTS
from annotations.sentences import CodedError

LEAST, MOST = Decimal("0.01"), Decimal(10_000)
_WRITTEN = re.compile(r"\d{1,12}(\.\d{1,2})?", re.ASCII)


class AmountError(CodedError, ValueError):
    """Error: a text is not an amount of money, or the amount is out of the range for a bonus."""

    sentences = AMOUNTS


def parse_bonus_amount(text: str) -> Decimal:
    """Parse the amount of a bonus, from 0.01 to 10,000, with at most two decimal places.

    Raises AmountError for what is no number with a point and at most two decimal places, and for
    less than 0.01 or more than 10,000. "1,50" is refused, because in half of the world it means
    150.
    """
    amount = parse_total_amount(text)
    if not LEAST <= amount <= MOST:
        raise AmountError("out_of_range", amount=amount, least=LEAST, most=MOST)
    return amount


def parse_total_amount(text: str) -> Decimal:
    """Parse an amount of money of any size, 0 or more, with at most two decimal places.

    Raises AmountError for any other text.
    """
    if not _WRITTEN.fullmatch(text.strip()):
        raise AmountError("not_an_amount", text=text.strip()[:40])
    return Decimal(text.strip()).quantize(LEAST)
