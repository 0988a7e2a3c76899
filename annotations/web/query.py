"""What stands in the query of an address: ids, numbers, words of a list.

What will not do is a `QueryError`: on a page nothing is found there, the API names the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.http import Http404


class QueryError(Http404):
    """A parameter that will not do: its name, what to write instead, the kind of problem."""

    def __init__(self, name: str, detail: str, code: str = "invalid") -> None:
        super().__init__(f"{name}: {detail}")
        self.name, self.detail, self.code = name, detail, code


def public_id(asked: Mapping[str, str], name: str, *, blank: bool = False) -> UUID | None:
    """Return a public id; None without one (`blank`: also for an empty one)."""
    text = _text(asked, name, blank)
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise QueryError(name, "write a UUID") from None


def number(
    asked: Mapping[str, str],
    name: str,
    least: int,
    most: int,
    detail: str = "",
    *,
    blank: bool = False,
) -> int | None:
    """Return a whole number from `least` to `most`, both of which are not negative; None as above.

    `detail` says what to write where there is more to say than the bounds.
    """
    text = _text(asked, name, blank)
    if text is None:
        return None
    if text.isascii() and text.isdecimal() and len(text) <= len(str(most)):
        value = int(text)
        if least <= value <= most:
            return value
    raise QueryError(name, detail or f"write a whole number from {least} to {most}")


def choice(asked: Mapping[str, str], name: str, choices: Iterable[str], default: str) -> str:
    """Return one of the words, the default one without any."""
    words = list(choices)
    text = asked.get(name)
    if text is None:
        return default
    if text not in words:
        raise QueryError(name, f"write {', '.join(words[:-1])} or {words[-1]}")
    return text


def flag(asked: Mapping[str, str], name: str) -> bool:
    """Return a switch, which is off where it is not named."""
    word = asked.get(name, "false").lower()
    if word not in ("true", "false"):
        raise QueryError(name, "write true or false")
    return word == "true"


def _text(asked: Mapping[str, str], name: str, blank: bool) -> str | None:
    text = asked.get(name)
    return None if blank and not text else text
