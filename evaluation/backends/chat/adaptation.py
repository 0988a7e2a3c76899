"""Adapt the parameters of requests to what a server takes: learnt from its refusals.

Reasoning models refuse `max_tokens` (they want `max_completion_tokens`) and any `temperature` but
their own; some servers know no `seed`. These three are sent without being asked for, so a request
that is refused because of one of them is sent once more without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from evaluation.backends.server import FaultError, message_in

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
    """Changes to the parameters of requests, in the order in which they were learnt."""

    def __init__(self) -> None:
        self._changes: dict[str, str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """The changes, a phrase each."""
        return tuple(
            f"{name} sent as {other}" if other else f"{name} left out"
            for name, other in self._changes.items()
        )

    def applied(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request with the changes."""
        found = dict(body)
        for name, other in self._changes.items():
            if name not in found:
                continue
            value = found.pop(name)
            if other:
                found.setdefault(other, value)
        return found

    def learn(self, fault: FaultError, body: Mapping[str, Any]) -> bool:
        """Note the change that a refusal of `body` asks for; whether there is one to try."""
        if fault.status not in STATUSES or fault.code == "refused_prompt":
            return False
        named, message = _named(fault.content)
        if not _REFUSED.search(message) or _TOO_HIGH.search(message):
            return False
        for name in (*OTHER_NAMES, *OPTIONAL):
            is_meant = name == named or (named is None and _mentions(message, name))
            if name not in body or not is_meant:
                continue
            if name not in self._changes:
                self._changes[name] = self._other_name(name)
            # Another request may have learnt it meanwhile.
            return self.applied(body) != dict(body)
        return False

    def _other_name(self, name: str) -> str:
        other = OTHER_NAMES.get(name, "")
        return "" if other in self._changes else other


def _named(content: bytes) -> tuple[str | None, str]:
    """Return the parameter that an error names, None without one, and its message."""
    text = content.decode(errors="replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None, text[:2000]
    error = said.get("error") if isinstance(said, Mapping) else None
    error = error if isinstance(error, Mapping) else said
    named = error.get("param") if isinstance(error, Mapping) else None
    words = " ".join([message_in(said), str(error.get("code") or "") if named else ""])
    if not message_in(said):
        words = text[:2000]
    # Validators say which field by its place: {"loc": ["body", "seed"], "msg": ...}.
    detail = said.get("detail") if isinstance(said, Mapping) else None
    for one in detail if isinstance(detail, list) else ():
        place = one.get("loc") if isinstance(one, Mapping) else None
        if isinstance(place, list) and place:
            named, words = str(place[-1]), f"{words} {one.get('type') or ''}"
    return (named if isinstance(named, str) else None), words


def _mentions(message: str, name: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", message) is not None
