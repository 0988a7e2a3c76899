"""Errors of back-ends, parts of a SPEC, and rules on API keys.

Each error has a code and values for programs. A SPEC is the text that names a back-end: its kind, a
colon, and the model or file. The rules decide which API keys of the environment may be sent to
which servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit


class BackendError(Exception):
    """A back-end (model, library or server) cannot do what was requested.

    `str()` is the sentence for people: what failed, where, and what to do. `code` and `values` hold
    the same for programs, which build a sentence of their own from them.
    """

    code = "backend"

    def __init__(self, message: str, code: str = "", **values: Any) -> None:
        super().__init__(message)
        self.code = code or self.code
        self.values = values


class EmbedderError(BackendError):
    """The embedder cannot be loaded or cannot embed the texts."""

    code = "embedder"


class EntailmentError(BackendError):
    """The entailment model is missing or fails on a text."""

    code = "entailment"


class RerankerError(BackendError):
    """The re-ranker is missing or fails."""

    code = "reranker"


class SpellingError(BackendError):
    """The spelling corrector is missing, or does not support the language."""

    code = "spelling"


class ChatError(BackendError):
    """A language model cannot be used; faults of single requests are in the replies."""

    code = "chat"


# A model's name may hold an @ of its own; the URL starts at the one before its scheme.
MODEL_AT_URL = re.compile(r"(?P<model>.+?)@(?P<url>[A-Za-z][A-Za-z0-9+.\-]*://.*)", re.DOTALL)


def split_model_at_url(target: str) -> tuple[str, str] | None:
    """Return the two parts of a text MODEL@URL; None for text of another form."""
    match = MODEL_AT_URL.fullmatch(target)
    return None if match is None else (match["model"], match["url"])


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
    """Rule that the API keys in an environment variable may be sent to one server, or to any.

    `name` is the variable's name, or with `prefix` the beginning of several names.

    The origin is scheme, host and port; "" for any.
    """

    name: str
    prefix: bool = False
    origin: str = ""

    @classmethod
    def from_entry(cls, entry: str) -> Self:
        """Return the rule that a setting's entry states: NAME or PREFIX*, then @HOST[:PORT] or not.

        Without a scheme the server is one of HTTPS, without a port that of the scheme.
        """
        name, separator, where = entry.partition("@")
        url = where if "://" in where else f"https://{where}"
        return cls(
            name.removesuffix("*"), name.endswith("*"), parse_origin(url) if separator else ""
        )

    def allows_key(self, variable: str, url: str) -> bool:
        """Return whether the API key in an environment variable may be sent to a URL."""
        named = variable.startswith(self.name) if self.prefix else variable == self.name
        # Two invalid addresses both have the origin "none", which must not match.
        return named and (not self.origin or self.origin == parse_origin(url) != "none")


@dataclass(frozen=True)
class KeyRules:
    """An installation's rules on which API keys may be sent to which servers; none by default."""

    rules: tuple[KeyRule, ...] = ()

    @classmethod
    def from_entries(cls, entries: Iterable[str]) -> Self:
        """Return the rules that an installation's setting states (see `KeyRule.from_entry`)."""
        return cls(tuple(map(KeyRule.from_entry, entries)))

    def allows_key(self, variable: str, url: str) -> bool:
        r"""Return whether any\ rule\ allows\ sending an environment variable's key to a URL."""
        return any(rule.allows_key(variable, url) for rule in self.rules)
