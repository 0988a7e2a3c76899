"""Which keys of the server's environment may be sent where, for those who do not run it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class KeyRule:
    """Whose key may be sent where: a variable, or all whose names begin with it, and a host."""

    name: str
    prefix: bool = False
    host: str = ""

    @classmethod
    def of(cls, entry: str) -> Self:
        """Read NAME, PREFIX* or either with @HOST."""
        name, _, host = entry.partition("@")
        return cls(name.removesuffix("*"), name.endswith("*"), host.casefold())

    def allows(self, variable: str, host: str) -> bool:
        """Return whether the key in a variable may be sent to a host."""
        named = variable.startswith(self.name) if self.prefix else variable == self.name
        return named and self.host in ("", host.casefold())


@dataclass(frozen=True)
class KeyRules:
    """The rules of an installation; without any no key may be sent."""

    rules: tuple[KeyRule, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Read the entries of the setting."""
        return cls(tuple(map(KeyRule.of, entries)))

    def allow(self, variable: str, host: str) -> bool:
        """Return whether any rule allows it."""
        return any(rule.allows(variable, host) for rule in self.rules)
