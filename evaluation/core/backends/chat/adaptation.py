"""Adapt request parameters to a server: learn from its refusals which it does not accept.

Reasoning models refuse `max_tokens` (they want `max_completion_tokens`) and any `temperature` but
their own; some servers know no `seed`. These three are sent without being asked for, so a request
that is refused because of one of them is sent once more without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from evaluation.core.backends.server import FaultError, find_message

OTHER_NAMES = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
OPTIONAL = ("temperature", "seed")
STATUSES = (400, 422)
# How servers say that they do not take a parameter, or not with that value.
_REFUSED = re.compile(
    r"unsupported|not support|does not support|doesn't support|unrecognized|unrecognised|unknown|"
    r"not permitted|not allowed|unexpected|extra (?:inputs|fields)|extra_forbidden|deprecated|"
    r"not accept|only the default|must be (?:1|unset|omitted)\b|only 1 is allowed|not available|"
    r"not compatible|incompatible|instead|invalid parameter|invalid argument",
    re.IGNORECASE,
)
# A value that is too high is no refusal of its parameter.
_TOO_HIGH = re.compile(r"at most|maximum|less than|greater than|too large|too high|exceed|<=")


class AdaptedParameters:
    """Request parameters to rename or drop for one server, in the order learnt from refusals."""

    def __init__(self) -> None:
        self._changes: dict[str, str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """The learnt changes as phrases for people, such as "seed left out"."""
        return tuple(
            f"{name} sent as {other}" if other else f"{name} left out"
            for name, other in self._changes.items()
        )

    def adapt(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request body with all learnt changes applied."""
        adapted = dict(body)
        for name, other in self._changes.items():
            if name not in adapted:
                continue
            value = adapted.pop(name)
            if other:
                adapted.setdefault(other, value)
        return adapted

    def learn(self, fault: FaultError, body: Mapping[str, Any]) -> bool:
        """Learn a change from a server's refusal of `body`; return whether to try again."""
        if fault.status not in STATUSES or fault.code == "refused_prompt":
            return False
        named, message = _find_named_parameter(fault.content)
        if not _REFUSED.search(message) or _TOO_HIGH.search(message):
            return False
        for name in (*OTHER_NAMES, *OPTIONAL):
            is_meant = name == named or (named is None and _is_mentioned(message, name))
            if name not in body or not is_meant:
                continue
            if name not in self._changes:
                self._changes[name] = self._other_name(name)
            # Another request may have learnt it meanwhile.
            return self.adapt(body) != dict(body)
        return False

    def _other_name(self, name: str) -> str:
        """Return a parameter's alternative name; "" if there is none or it was tried before."""
        other = OTHER_NAMES.get(name, "")
        return "" if other in self._changes else other


def _find_named_parameter(content: bytes) -> tuple[str | None, str]:
    """Return the parameter that a server's error names (or None), and the error's message."""
    text = content.decode(errors="replace")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return None, text[:2000]
    error = payload.get("error") if isinstance(payload, Mapping) else None
    error = error if isinstance(error, Mapping) else payload
    named = error.get("param") if isinstance(error, Mapping) else None
    message = " ".join([find_message(payload), str(error.get("code") or "") if named else ""])
    if not find_message(payload):
        message = text[:2000]
    # Validators say which field by its place: {"loc": ["body", "seed"], "msg": ...}.
    detail = payload.get("detail") if isinstance(payload, Mapping) else None
    for entry in detail if isinstance(detail, list) else ():
        place = entry.get("loc") if isinstance(entry, Mapping) else None
        if isinstance(place, list) and place:
            named, message = str(place[-1]), f"{message} {entry.get('type') or ''}"
    return (named if isinstance(named, str) else None), message


def _is_mentioned(message: str, name: str) -> bool:
    """Return whether an error message contains a parameter's name as a whole word."""
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", message) is not None
