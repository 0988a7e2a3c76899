"""Answer of a model in the log of another tool, and the values of its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class NoTextError(Exception):
    """Internal error: a sample has no text by the model, only likelihoods of choices."""


@dataclass(frozen=True)
class LogRecord:
    """One answer of a model in a log, with the request and what the log states about it.

    Attributes
    ----------
    status : "" to derive it from the text and the finish reason, or "error" or "refused".
    sample : number of the answer among those of the model to the question, from 0.
    """

    model: str
    question: str
    text: str
    status: str = ""
    sample: int = 0
    finish_reason: str = ""
    prompt: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def find_value_at_path(sample: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path of keys, separated by dots; None if there is none."""
    value: Any = sample
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
