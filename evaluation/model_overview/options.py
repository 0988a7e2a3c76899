"""Options of the model overview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import Parameters, Whole, declare_option


@dataclass(frozen=True)
class ViewsParameters(Parameters):
    """Options of the model overview: bootstrap draws of questions, and the seed."""

    bootstrap: int = declare_option(
        400,
        Whole(
            label="Bootstrap draws",
            help="Draws of questions for the intervals; 0 for none.",
            lowest=0,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, AqerParameters.options()["seed"])

    sentences: ClassVar = {
        "no_views": "Nothing has been found out about a model's answers to this version yet: "
        "grade it with models' answers, or start another kind of run that compares models.",
    }
