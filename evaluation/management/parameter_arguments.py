"""The options of a grading, the same for files and for question sets in the database."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from dataclasses import fields
from typing import Any

from django.core.management.base import CommandError

from evaluation.flow.parameters import (
    AGGREGATIONS,
    INITIALIZATIONS,
    SIMILARITIES,
    STOPPING_RULES,
    AqerParameters,
)
from evaluation.words.console import BAD_INPUT, at_least, printable

# More would only cost time: the ends of an interval no longer move.
MOST_DRAWS = 100_000


def chosen_parameters(options: dict[str, Any]) -> AqerParameters:
    """Return what was chosen; raises CommandError (2) where it contradicts itself."""
    values = {field.name: options[field.name] for field in fields(AqerParameters)}
    # Files are read later, with the answers that they belong to.
    values |= {"exclude_workers": (), "anchors": bool(options["anchors"])}
    parameters = AqerParameters(**values)
    problems = parameters.problems()
    if problems:
        raise CommandError(printable("\n".join(problems)), returncode=BAD_INPUT)
    return parameters


def add_parameter_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for each field of `AqerParameters`, whose defaults they have."""
    default = AqerParameters()
    add = parser.add_argument
    add("--embedder", metavar="SPEC", default=default.embedder, help="see below (%(default)s)")
    add(
        "--precision",
        choices=("float32", "bfloat16", "auto"),
        default=default.precision,
        help="auto: bfloat16 where the processor has it, else float32 (%(default)s)",
    )
    add(
        "--similarity",
        choices=SIMILARITIES,
        default=default.similarity,
        help="euclidean is the negative distance (%(default)s)",
    )
    add("--init", choices=INITIALIZATIONS, default=default.init, help="first weights (%(default)s)")
    add("--nli", metavar="NAME", help="entailment model (name or folder) for --init entailment")
    add(
        "--aggregation",
        choices=AGGREGATIONS,
        default=default.aggregation,
        help="how the crowd's answer is made; majority needs --embedder bow (%(default)s)",
    )
    add(
        "--stopping",
        choices=STOPPING_RULES,
        default=default.stopping,
        help="stop when the RMSE of the weights (paper), or that times the number of workers "
        "(relative), is below the tolerance (%(default)s)",
    )
    add(
        "--tolerance",
        type=_tolerance,
        metavar="X",
        default=default.tolerance,
        help="when the weights count as settled (%(default)s)",
    )
    add(
        "--max-iterations",
        type=at_least(1),
        metavar="N",
        default=default.max_iterations,
        help="where to stop in any case (%(default)s)",
    )
    for name, what in (
        ("leave-one-out", "compare each answer with the crowd's answer without its worker"),
        ("difficulty", "allow for some questions being harder than others"),
        ("discrimination", "let questions that tell workers apart count more"),
        ("include-rejected", "grade answers too that were rejected where they were collected"),
    ):
        of_field = getattr(default, name.replace("-", "_"))
        state = "on" if of_field else "off"
        add(f"--{name}", action=BooleanOptionalAction, default=of_field, help=f"{what} ({state})")
    add(
        "--bootstrap",
        type=_draws,
        metavar="N",
        default=default.bootstrap,
        help="draws for intervals; 0 for none (%(default)s)",
    )
    add(
        "--bootstrap-workers",
        action="store_true",
        help="draw workers as well: intervals for another crowd of the same kind",
    )
    add(
        "--seed",
        type=at_least(0),
        metavar="N",
        default=default.seed,
        help="of everything random (%(default)s)",
    )


def _draws(text: str) -> int:
    number: int = at_least(0)(text)
    if number == 1:
        raise argparse.ArgumentTypeError("one draw tells nothing: 0, or 2 and more")
    if number > MOST_DRAWS:
        raise argparse.ArgumentTypeError(f"{number} is more than {MOST_DRAWS}")
    return number


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no tolerance: a number of 0 or more")
    return number
