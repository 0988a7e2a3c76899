"""The texts of a problem, made from its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Text = str | Callable[[Mapping[str, Any]], str]
"""A template in the manner of `str.format`, or a function where words depend on the values."""


@dataclass(frozen=True, slots=True)
class ProblemMessage:
    """What is wrong, what to do, and what to do on the command line where it has an option."""

    reason: Text
    remedy: Text = ""
    on_terminal: Text = ""

    def texts(self, values: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the three texts with their values. Raises KeyError for a value that is missing."""
        return (
            filled(self.reason, values),
            filled(self.remedy, values),
            filled(self.on_terminal, values),
        )


def filled(text: Text, values: Mapping[str, Any]) -> str:
    """Return a text with its values."""
    return text.format_map(values) if isinstance(text, str) else text(values)
