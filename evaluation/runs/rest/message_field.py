"""Serialize messages as the API's sentences."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotations.web.rest.serializers import PLAIN
from evaluation.core.messages.message import Message
from evaluation.core.options import API


class SaidField(serializers.CharField):
    """Serializer field that shows a message, also a stored one, as a sentence."""

    def to_representation(self, value: Any) -> str:
        """Return the API's sentence for a message."""
        return API.said(value)


PLAIN[Message] = SaidField
