"""The texts of a problem, as templates in the manner of `str.format`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ProblemMessage:
    """What is wrong, what to do, and what to do on the command line where it has an option."""

    reason: str
    remedy: str = ""
    on_terminal: str = ""

    def texts(self, values: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the three texts with their values. Raises KeyError for a value that is missing."""
        return (
            self.reason.format_map(values),
            self.remedy.format_map(values),
            self.on_terminal.format_map(values),
        )
