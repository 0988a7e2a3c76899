"""Messages in answers of the API: sentences, in its own words."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotations.web.rest.serializers import PLAIN
from evaluation.options import API
from evaluation.words.message import Message


class SaidField(serializers.CharField):
    """A message, or what is stored of one."""

    def to_representation(self, value: Any) -> str:
        """Return its sentence."""
        return API.said(value)


PLAIN[Message] = SaidField
