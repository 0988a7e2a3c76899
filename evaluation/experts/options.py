"""Options of the evaluation of experts' grades."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import Parameters, Whole, declare_option


@dataclass(frozen=True)
class ExpertsParameters(Parameters):
    """Options of the evaluation of experts' grades: number of bootstrap draws of questions."""

    bootstrap: int = declare_option(
        400,
        Whole(
            label="Bootstrap draws",
            help="Draws of questions for the intervals of agreement and correlation.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, AqerParameters.options()["seed"])
