"""How UMWP is evaluated: declared here, read by every door (`evaluation.options`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evaluation.backends import BackendError, parse_spec
from evaluation.flow.parameters import SEED_OF_DRAWS, draws_of
from evaluation.flow.umwp.pieces import FIXED, PAPER
from evaluation.options import Choice, Parameters, Problem, Real, Text, Whole, option, problem


def _unreadable(spec: str) -> Problem | None:
    try:
        parsed = parse_spec(spec)
    except BackendError as error:
        return problem("unreadable", "encoder", reason=str(error))
    if parsed.kind == "precomputed":
        return problem("unreadable", "encoder", reason="windows of replies have no made vectors")
    return None


@dataclass(frozen=True)
class UmwpParameters(Parameters):
    """How replies are taken apart, compared and read, and how intervals are made.

    `threshold` None is that of the encoder, found by the labelled replies.
    """

    rules: str = option(
        FIXED,
        Choice(
            label="Rules",
            help="How replies are read.",
            choices={
                FIXED: "fixed: decimals, thousands, units and names are known",
                PAPER: "as the published script behaves",
            },
        ),
    )
    encoder: str = option(
        "minilm",
        Text(
            label="Encoder",
            help="Makes vectors of windows and templates.",
            test=_unreadable,
            metavar="SPEC",
        ),
    )
    threshold: float | None = option(
        None,
        Real(
            label="Threshold",
            help="A window more like a template than this says that there is no answer. Without "
            "it, the threshold that is best on labelled replies.",
            optional=True,
            lowest=-1.0,
            highest=1.0,
        ),
    )
    bootstrap: int = option(400, draws_of("problems"))
    seed: int = option(0, SEED_OF_DRAWS)
    sentences: ClassVar[Mapping[str, str]] = {"unreadable": "{reason}"}


@dataclass(frozen=True)
class MiningParameters(UmwpParameters):
    """How new templates are looked for in replies."""

    least: int = option(
        4,
        Whole(
            label="Least replies",
            help="Replies without an answer that a wording stands in to be a candidate.",
            lowest=2,
            highest=1_000_000,
        ),
    )
    precision: float = option(
        0.9,
        Real(
            label="Least precision",
            help="Share of the replies with a wording that have no answer: with its words, and "
            "with what is like it.",
            lowest=0.5,
            highest=1.0,
        ),
    )
    most: int = option(
        60,
        Whole(
            label="Most candidates",
            help="Candidates that are tried, those that separate best first.",
            lowest=1,
            highest=1000,
        ),
    )
