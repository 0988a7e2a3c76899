"""Text templates of a problem's message, which are filled with the problem's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Text = str | Callable[[Mapping[str, Any]], str]
"""A template in the manner of `str.format`, or a function where words depend on the values."""


@dataclass(frozen=True, slots=True)
class ProblemMessage:
    """Text templates of one problem code: reason, remedy, and the remedy on the command line."""

    reason: Text
    remedy: Text = ""
    on_terminal: Text = ""

    def texts(self, values: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the reason, the remedy and the command line remedy, filled with values."""
        return (
            fill_template(self.reason, values),
            fill_template(self.remedy, values),
            fill_template(self.on_terminal, values),
        )


def fill_template(text: Text, values: Mapping[str, Any]) -> str:
    """Return a text template filled with values; a function is called with the values."""
    return text.format_map(values) if isinstance(text, str) else text(values)
