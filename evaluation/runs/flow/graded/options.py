"""Define the options of the run that tries all scoring methods on graded answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from annotations.exchange.graded import Labels
from evaluation.consensus.crowd_parameters import OF_GRADING
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import (
    Parameters,
    Problem,
    Switch,
    Text,
    Whole,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import ADVANCED, BASIC


def _check_labels(text: str) -> Problem | None:
    """Return the problem of a text that gives no values for labels; None if it is valid."""
    try:
        Labels.parse(text)
    except ValueError as error:
        return build_problem("wrong_labels", "labels", reason=str(error))
    return None


@dataclass(frozen=True)
class GradedOptions(Parameters):
    """Options of trying all methods: values of labels, slow methods, embedder, seed."""

    labels: str | None = declare_option(
        None,
        Text(
            label="What labels are worth",
            help="Only where answers have labels and not numbers, such as "
            "correct=1,partial=.5,wrong=0. Higher is better.",
            group=BASIC,
            optional=True,
            max_length=2000,
            test=_check_labels,
        ),
    )
    slow: bool = declare_option(
        False,
        Switch(
            label="Try slow methods too",
            help="Those that take many times as long as all others together.",
            group=ADVANCED,
        ),
    )
    embedder: str = declare_option("minilm", OF_GRADING["embedder"])
    repetitions: int = declare_option(
        10,
        Whole(
            label="Dealt crowds",
            help="Where nobody knows who gave the answers, so many crowds are dealt from them.",
            group=ADVANCED,
            lowest=1,
            highest=100,
        ),
    )
    seed: int = declare_option(0, OF_GRADING["seed"])

    groups: ClassVar = {ADVANCED: "More settings"}
    sentences: ClassVar = {
        **Parameters.sentences,
        "unreadable": AqerParameters.sentences["unreadable"],
        "wrong_labels": "{reason}",
        "no_graded_answers": "upload graded answers first",
        "unknown_labels": "{reason}",
    }
