"""Serialize messages as sentences of the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotations.web.rest.serializers import PLAIN
from evaluation.core.messages.message import Message
from evaluation.core.options import API


class SaidField(serializers.CharField):
    """A message, or a stored one, as its sentence."""

    def to_representation(self, value: Any) -> str:
        """Return the sentence of the message."""
        return API.said(value)


PLAIN[Message] = SaidField
