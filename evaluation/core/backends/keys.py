"""Check which API keys of the environment may be sent to which servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


def parse_origin(url: str) -> str:
    """Return scheme, host and port of a URL in lower case; "none" for an invalid URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return "none"
    return f"{parts.scheme}://{parts.hostname or ''}:{port}".casefold()


@dataclass(frozen=True)
class KeyRule:
    """An environment variable (or prefix of names) and the server that may receive its value.

    The origin is scheme, host and port; "" for any.
    """

    name: str
    prefix: bool = False
    origin: str = ""

    @classmethod
    def of(cls, entry: str) -> Self:
        """Parse NAME, PREFIX* or either with @HOST, @HOST:PORT or @http://HOST:PORT.

        Without a scheme it is HTTPS, without a port that of the scheme.
        """
        name, at, where = entry.partition("@")
        url = where if "://" in where else f"https://{where}"
        return cls(name.removesuffix("*"), name.endswith("*"), parse_origin(url) if at else "")

    def allows(self, variable: str, url: str) -> bool:
        """Return whether the API key in an environment variable may be sent to a URL."""
        named = variable.startswith(self.name) if self.prefix else variable == self.name
        return named and (not self.origin or self.origin == parse_origin(url) != "none")


@dataclass(frozen=True)
class KeyRules:
    """An installation's rules on API keys; without a rule no key may be sent."""

    rules: tuple[KeyRule, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Parse the installation's rules, one per entry (see `KeyRule.of`)."""
        return cls(tuple(map(KeyRule.of, entries)))

    def allow(self, variable: str, url: str) -> bool:
        """Return whether any rule allows sending an environment variable's key to a URL."""
        return any(rule.allows(variable, url) for rule in self.rules)
