"""The texts of a problem, filled with its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Text = str | Callable[[Mapping[str, Any]], str]
"""A template in the manner of `str.format`, or a function where words depend on the values."""


@dataclass(frozen=True, slots=True)
class ProblemMessage:
    """The texts of one problem: reason, remedy, and remedy on the command line if it differs."""

    reason: Text
    remedy: Text = ""
    on_terminal: Text = ""

    def texts(self, values: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the three texts filled with values; raises KeyError for a missing value."""
        return (
            fill(self.reason, values),
            fill(self.remedy, values),
            fill(self.on_terminal, values),
        )


def fill(text: Text, values: Mapping[str, Any]) -> str:
    """Return a template filled with values, or the result of a function on them."""
    return text.format_map(values) if isinstance(text, str) else text(values)
