"""Fields for amounts of money, in requests and answers: decimal text with at most two places.

Numbers are refused, because a float cannot hold 0.10 exactly.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils.text import capfirst
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotations.exchange.money import AmountError, parse_amount, parse_sum

PATTERN = r"^[0-9]{1,12}(\.[0-9]{1,2})?$"
AS_TEXT = 'Write it as text with a point and at most two places, such as "1.50".'


@extend_schema_field({"type": "string", "pattern": PATTERN})
class SumField(serializers.Field[Any, Any, Any, Any]):
    """Field of a requested sum of money, as text such as "12.50"."""

    def to_internal_value(self, data: Any) -> Decimal:
        """Return the sum as a Decimal.

        Raise ValidationError for a JSON number or an invalid text.
        """
        if not isinstance(data, str):
            raise serializers.ValidationError(AS_TEXT, "not_text")
        try:
            return self.read(data)
        except AmountError as error:
            raise serializers.ValidationError(f"{capfirst(str(error))}.", error.code) from None

    def read(self, text: str) -> Decimal:
        """Parse a text as a sum; raise AmountError if invalid."""
        return parse_sum(text)


class AmountField(SumField):
    """Field of an amount from 0.01 to 10,000.00, as text such as "1.50"."""

    def read(self, text: str) -> Decimal:
        """Parse a text as an amount; raise AmountError if invalid."""
        return parse_amount(text)


class MoneyField(serializers.DecimalField):
    """Field of an amount in a response, as decimal text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=14, decimal_places=2, **kwargs)
