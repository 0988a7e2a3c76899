"""Which keys of the server's environment may be sent where, for those who do not run it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL in lower case; "none" where it has no such."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return "none"
    return f"{parts.scheme}://{parts.hostname or ''}:{port}".casefold()


@dataclass(frozen=True)
class KeyRule:
    """Whose key may be sent where: a variable, or all whose names begin with it, and an origin.

    The origin is scheme, host and port; "" for any.
    """

    name: str
    prefix: bool = False
    origin: str = ""

    @classmethod
    def of(cls, entry: str) -> Self:
        """Read NAME, PREFIX* or either with @HOST, @HOST:PORT or @http://HOST:PORT.

        Without a scheme it is HTTPS, without a port that of the scheme.
        """
        name, at, where = entry.partition("@")
        url = where if "://" in where else f"https://{where}"
        return cls(name.removesuffix("*"), name.endswith("*"), origin_of(url) if at else "")

    def allows(self, variable: str, url: str) -> bool:
        """Return whether the key in a variable may be sent to a URL."""
        named = variable.startswith(self.name) if self.prefix else variable == self.name
        return named and (not self.origin or self.origin == origin_of(url) != "none")


@dataclass(frozen=True)
class KeyRules:
    """The rules of an installation; without any no key may be sent."""

    rules: tuple[KeyRule, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Read the entries of the setting."""
        return cls(tuple(map(KeyRule.of, entries)))

    def allow(self, variable: str, url: str) -> bool:
        """Return whether any rule allows it."""
        return any(rule.allows(variable, url) for rule in self.rules)
