"""Options of a run that asks models, and of a model's registration.

Define the options of a language model's registration: URL, key variable, parameters, prices. Define
the options of the run type `ask`: models, prompt, sampling, pace and budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from evaluation.core.backends.chat.registry import get_chat_model
from evaluation.core.backends.errors import ChatError, split_model_at_url
from evaluation.core.backends.server import RetryRules
from evaluation.core.options import (
    FloatOption,
    IntegerOption,
    JsonOption,
    Option,
    Parameters,
    Problem,
    RegisteredModelsOption,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import BASIC, DATABASE
from evaluation.runs.flow.asking.asker import RequestSettings
from evaluation.runs.flow.asking.plan import FIXED

OPENAI, LOCAL, REPLIES = "openai", "local:smollm2", "replies"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def parse_spec_url(spec: str) -> str:
    """Return the URL in a model's SPEC ``openai:MODEL@URL``; "" for another SPEC."""
    kind, _, target = spec.partition(":")
    parts = split_model_at_url(target) if kind == OPENAI else None
    return parts[1] if parts else ""


def _find_spec_problem(spec: str) -> Problem | None:
    """Return the problem of a model's SPEC; None if a back-end accepts it."""
    if not spec.isprintable():
        return build_problem("spec", "spec", reason="it holds a character that no address has")
    kind, _, target = spec.partition(":")
    if spec == LOCAL or (kind == REPLIES and target):
        return None
    if kind != OPENAI:
        return build_problem("spec_form", "spec")
    try:
        get_chat_model(spec)  # nothing is connected to yet
    except ChatError as error:
        return build_problem("spec", "spec", reason=str(error))
    return None


def _find_variable_problem(name: str) -> Problem | None:
    """Return the problem of the name of an environment variable; None if it is valid."""
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
        TextOption(
            label="Address",
            help="openai:MODEL@URL, a model behind an OpenAI-compatible address, such as "
            "openai:small-1@https://api.example.org/v1; or local:smollm2, the packaged model.",
            max_length=1000,
            optional=True,
            test=_find_spec_problem,
        ),
    )
    key_variable: str | None = declare_option(
        None,
        TextOption(
            label="Variable of the key",
            help="Name of the server's environment variable that holds the key. The key itself is "
            "never stored.",
            max_length=100,
            optional=True,
            test=_find_variable_problem,
        ),
    )
    parameters: dict[str, Any] = declare_option(
        {},
        JsonOption(
            label="Parameters",
            help='Sent with every request, as JSON, such as {{"top_p": 0.9}}; null leaves out what '
            "would be sent otherwise.",
        ),
    )
    price_in: float | None = declare_option(
        None,
        FloatOption(
            label="Price of reading",
            help="Money for a million tokens that it reads.",
            lowest=0.0,
            optional=True,
        ),
    )
    price_out: float | None = declare_option(
        None,
        FloatOption(
            label="Price of writing",
            help="Money for a million tokens that it writes.",
            lowest=0.0,
            optional=True,
        ),
    )

    def find_conflicts(self) -> Iterator[Problem]:
        """Yield problems of fields that do not fit together: prices, parameters, key."""
        if (self.price_in is None) != (self.price_out is None):
            missing = "price_in" if self.price_in is None else "price_out"
            yield build_problem("prices", missing)
        for name in sorted(FIXED & self.parameters.keys()):
            yield build_problem("fixed", "parameters", name=name)
        if self.key_variable and not parse_spec_url(self.spec or ""):
            yield build_problem("key_without_address", "key_variable")


TEMPERATURE, MAX_TOKENS = 0.0, 256
"""Values sent if neither the run nor the model sets them."""
LONGEST_WAIT = 120.0
"""Seconds that a server may ask us to wait before the next attempt."""
MOST_SEED = 2**31 - 1
OTHER_NAME = "max_completion_tokens"
"""What some models call max_tokens; theirs is null then among the model's parameters."""

MODEL_SENTENCES: Mapping[str, str] = {
    "no_models": "choose the models to ask",
    "unknown_models": "{missing} of the models are not there, or not yours to ask",
    "no_spec": "{name} has no address: only its imported answers are known",
    "model_archived": "{name} is archived: restore it on its page first",
    "model_refused": "{name}: {reason}",
    "no_prices": "{budget} needs the prices of every model: without them the cost is unknown "
    "({names})",
}
"""What can be wrong with the registered models that options name, whatever they are asked."""


@dataclass(frozen=True)
class AskOptions(Parameters):
    """Options of a run that asks models a set's questions: models, prompt, pace, budget."""

    sentences: ClassVar[Mapping[str, str]] = {
        **Parameters.sentences,
        **MODEL_SENTENCES,
        "unknown_prompt": "there is no such prompt, or none of yours: write closed, passage, or "
        "the id of a version of a prompt",
        "other_strategy": "{name} is ranked as asked with the strategy {own}, and the prompt has "
        "the strategy {strategy}: choose another prompt, or register it once more",
        "no_questions": "the version has no questions",
        "no_text": "{count} questions have no text (only their ids came with answers): upload the "
        "questions first",
        "no_passage": "{count} questions have no passage, which the prompt shows",
    }

    models: tuple[str, ...] = declare_option(
        (),
        RegisteredModelsOption(
            label="Models",
            help="Each is asked every question.",
            group=BASIC,
            most=50,
            needed="no_models",
        ),
    )
    prompt: str | None = declare_option(
        None,
        TextOption(
            label="Prompt",
            help="closed (the question alone), passage (with its text), or the id of a version "
            "of a prompt of yours. Without one: closed or passage, whichever the model is ranked "
            "by, else passage where every question has one.",
            group=BASIC,
            places=(DATABASE,),
            optional=True,
            max_length=100,
        ),
    )
    samples: int = declare_option(
        1,
        IntegerOption(
            label="Samples",
            help="Conversations about each question. The first is graded; beyond one choose a "
            "{temperature}.",
            group=BASIC,
            places=(DATABASE,),
            lowest=1,
            highest=100,
        ),
    )
    budget: float | None = declare_option(
        None,
        FloatOption(
            label="Budget",
            help="Spend no more than this, all models together; needs their prices.",
            group=BASIC,
            places=(DATABASE,),
            lowest=0.0,
            optional=True,
            signed_as="",
        ),
    )
    temperature: float | None = declare_option(
        None,
        FloatOption(
            label="Temperature",
            help="0 for the likeliest words, 1 for the model's own spread. Without one: the "
            "model's, else 0.",
            places=(DATABASE,),
            lowest=0.0,
            highest=100.0,
            optional=True,
        ),
    )
    max_tokens: int | None = declare_option(
        None,
        IntegerOption(
            label="Longest reply",
            help="In tokens. Without it: the model's, else 256.",
            places=(DATABASE,),
            lowest=1,
            highest=1_000_000,
            optional=True,
        ),
    )
    seed: int = declare_option(
        0,
        IntegerOption(
            label="Seed",
            help="Of the first sample; further ones have seeds derived from it.",
            places=(DATABASE,),
            highest=MOST_SEED,
        ),
    )
    logprobs: bool = declare_option(
        False,
        SwitchOption(
            label="Probabilities of words",
            help="Ask for them and keep them, where the server offers them.",
            places=(DATABASE,),
        ),
    )
    concurrency: int = declare_option(
        8,
        IntegerOption(
            label="At the same time",
            help="Requests to each model at the same time.",
            places=(DATABASE,),
            lowest=1,
            highest=256,
            signed_as="",
        ),
    )
    requests_per_minute: float | None = declare_option(
        None,
        FloatOption(
            label="Requests a minute",
            help="No more than these to each model, all runs with such a limit together. Without "
            "it: as fast as its server takes them.",
            places=(DATABASE,),
            lowest=1.0,
            optional=True,
            signed_as="",
        ),
    )
    timeout: float = declare_option(
        120.0,
        FloatOption(
            label="RetryRules",
            help="Seconds for one attempt.",
            places=(DATABASE,),
            above=0.0,
            highest=300.0,
            signed_as="",
        ),
    )
    attempts: int = declare_option(
        5,
        IntegerOption(
            label="Attempts",
            help="Of one request, where the fault may pass: busy, down, cut off.",
            places=(DATABASE,),
            lowest=1,
            highest=20,
            signed_as="",
        ),
    )

    def build_request_parameters(self, of_model: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a request: the model's own, overridden by the run's.

        A parameter that the model's registration sets to None is left out.
        """
        parameters = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS, **of_model}
        if self.temperature is not None:
            parameters["temperature"] = self.temperature
        if self.max_tokens is not None:
            # Under the name that the model's registration uses; the other one is null there.
            parameters[OTHER_NAME if parameters.get(OTHER_NAME) else "max_tokens"] = self.max_tokens
        if self.logprobs:
            parameters["logprobs"] = True
        # Without the seed, of which each sample has its own (`plan_requests`).
        return {
            name: value
            for name, value in parameters.items()
            if value is not None and name != "seed"
        }

    def get_first_seed(self, of_model: Mapping[str, Any]) -> int | None:
        """Return the seed of the first sample; None for a model that takes no seed."""
        own = of_model.get("seed", self.seed)
        return own if isinstance(own, int) else None

    def build_request_settings(self) -> RequestSettings:
        """Return concurrency, retries and requests per minute, as `ask_model` takes them."""
        return RequestSettings(
            at_once=self.concurrency,
            patience=self.build_patience(),
            requests_a_minute=self.requests_per_minute,
        )

    def build_patience(self) -> RetryRules:
        """Return the attempts, timeout and waits of one request, as `Patience`."""
        return RetryRules(self.attempts, self.timeout, 0.5, LONGEST_WAIT)


_OWN = AskOptions.get_options()
OF_REPLIES: Mapping[str, Option] = {
    "models": replace(cast(RegisteredModelsOption, _OWN["models"]), most=20),
    "budget": _OWN["budget"],
    "temperature": replace(
        _OWN["temperature"],
        optional=False,
        help="Of the replies: 0 for the likeliest words, 1 for the model's own spread.",
    ),
    "max_tokens": replace(_OWN["max_tokens"], optional=False, help="In tokens."),
}
"""Options of other kinds that ask models: theirs have values of their own for every model."""
