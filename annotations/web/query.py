"""Parsing of query parameters of a URL: ids, numbers, choices and switches.

An invalid one raises `QueryError`: pages answer 404, the REST API names the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.http import Http404


class QueryError(Http404):
    """Error for an invalid query parameter: its name, and what to write instead."""

    def __init__(self, name: str, detail: str, code: str = "invalid") -> None:
        super().__init__(f"{name}: {detail}")
        self.name, self.detail, self.code = name, detail, code


def parse_public_id(params: Mapping[str, str], name: str, *, blank: bool = False) -> UUID | None:
    """Return a query parameter as a UUID; None if missing, or with `blank` if empty."""
    text = _read_text(params, name, blank)
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise QueryError(name, "write a UUID") from None


def parse_number(
    params: Mapping[str, str],
    name: str,
    least: int,
    most: int,
    detail: str = "",
    *,
    blank: bool = False,
) -> int | None:
    """Return a query parameter as an integer from `least` to `most`; None if missing.

    `detail` states what to write if the bounds do not suffice.
    """
    text = _read_text(params, name, blank)
    if text is None:
        return None
    # The length is checked first, because int() of a very long text is slow.
    if text.isascii() and text.isdecimal() and len(text) <= len(str(most)):
        value = int(text)
        if least <= value <= most:
            return value
    raise QueryError(name, detail or f"write a whole number from {least} to {most}")


def parse_choice(params: Mapping[str, str], name: str, choices: Iterable[str], default: str) -> str:
    """Return a query parameter that must be one of the choices; `default` if missing."""
    words = list(choices)
    text = params.get(name)
    if text is None:
        return default
    if text not in words:
        raise QueryError(name, f"write {', '.join(words[:-1])} or {words[-1]}")
    return text


def parse_flag(params: Mapping[str, str], name: str) -> bool:
    """Return whether a query parameter is "true"; False if missing."""
    word = params.get(name, "false").lower()
    if word not in ("true", "false"):
        raise QueryError(name, "write true or false")
    return word == "true"


def _read_text(params: Mapping[str, str], name: str, blank: bool) -> str | None:
    """Return a query parameter; None if missing, or with `blank` if empty."""
    text = params.get(name)
    return None if blank and not text else text
