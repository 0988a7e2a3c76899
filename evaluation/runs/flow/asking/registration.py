"""Define the options of a language model's registration: URL, key variable, parameters, prices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evaluation.core.backends.chat.registry import get_chat
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.specs import split_model_at_url
from evaluation.core.options import (
    JsonObject,
    Parameters,
    Problem,
    Real,
    Text,
    build_problem,
    declare_option,
)
from evaluation.runs.flow.asking.plan import FIXED

OPENAI, LOCAL, REPLIES = "openai", "local:smollm2", "replies"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def parse_url(spec: str) -> str:
    """Return the URL in a SPEC ``openai:MODEL@URL``; "" for another SPEC."""
    kind, _, target = spec.partition(":")
    parts = split_model_at_url(target) if kind == OPENAI else None
    return parts[1] if parts else ""


def _check_spec(spec: str) -> Problem | None:
    """Return the problem of a SPEC that no back-end accepts; None if it is valid."""
    if not spec.isprintable():
        return build_problem("spec", "spec", reason="it holds a character that no address has")
    kind, _, target = spec.partition(":")
    if spec == LOCAL or (kind == REPLIES and target):
        return None
    if kind != OPENAI:
        return build_problem("spec_form", "spec")
    try:
        get_chat(spec)  # nothing is connected to yet
    except ChatError as error:
        return build_problem("spec", "spec", reason=str(error))
    return None


def _check_variable(name: str) -> Problem | None:
    """Return the problem of an invalid name of an environment variable; None if valid."""
    return None if VARIABLE.fullmatch(name) else build_problem("variable", "key_variable")


@dataclass(frozen=True)
class ModelOptions(Parameters):
    """Registration of a language model; without a SPEC it only has imported answers."""

    sentences: ClassVar[Mapping[str, str]] = {
        **Parameters.sentences,
        "spec": "{reason}",
        "spec_form": "write openai:MODEL@URL, such as "
        "openai:small-1@https://api.example.org/v1, or local:smollm2",
        "spec_operators": "replies out of a file of the server are for operators",
        "address": "the address {address} is not public, and who runs this installation allows no "
        "model there",
        "variable": "a variable's name has letters, digits and underscores, such as "
        "OPENAI_API_KEY; the key itself belongs into the environment of the server, never here",
        "variable_refused": "the key in {name} is not for models: who runs this installation names "
        "the variables that may be used{where}",
        "prices": "give both prices, {price_in} and {price_out}, or none",
        "fixed": "{name} is set by the asking itself and no parameter",
        "key_without_address": "a key is only sent to an address (openai:MODEL@URL)",
    }

    spec: str | None = declare_option(
        None,
        Text(
            label="Address",
            help="openai:MODEL@URL, a model behind an OpenAI-compatible address, such as "
            "openai:small-1@https://api.example.org/v1; or local:smollm2, the packaged model.",
            max_length=1000,
            optional=True,
            test=_check_spec,
        ),
    )
    key_variable: str | None = declare_option(
        None,
        Text(
            label="Variable of the key",
            help="Name of the server's environment variable that holds the key. The key itself is "
            "never stored.",
            max_length=100,
            optional=True,
            test=_check_variable,
        ),
    )
    parameters: dict[str, Any] = declare_option(
        {},
        JsonObject(
            label="Parameters",
            help='Sent with every request, as JSON, such as {{"top_p": 0.9}}; null leaves out what '
            "would be sent otherwise.",
        ),
    )
    price_in: float | None = declare_option(
        None,
        Real(
            label="Price of reading",
            help="Money for a million tokens that it reads.",
            lowest=0.0,
            optional=True,
        ),
    )
    price_out: float | None = declare_option(
        None,
        Real(
            label="Price of writing",
            help="Money for a million tokens that it writes.",
            lowest=0.0,
            optional=True,
        ),
    )

    def contradictions(self) -> Iterator[Problem]:
        """Yield problems of fields that do not fit together: prices, parameters, key."""
        if (self.price_in is None) != (self.price_out is None):
            missing = "price_in" if self.price_in is None else "price_out"
            yield build_problem("prices", missing)
        for name in sorted(FIXED & self.parameters.keys()):
            yield build_problem("fixed", "parameters", name=name)
        if self.key_variable and not parse_url(self.spec or ""):
            yield build_problem("key_without_address", "key_variable")
