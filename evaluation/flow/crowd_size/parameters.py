"""What a trial of crowd sizes may be asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.flow.crowd_parameters import OF_GRADING, CrowdParameters
from evaluation.options import Whole, option
from evaluation.options.declaration import BASIC


@dataclass(frozen=True)
class CrowdSizeParameters(CrowdParameters):
    """How a crowd is graded, and how often parts of it are drawn."""

    repetitions: int = option(
        50,
        Whole(
            label="Draws of each size",
            help="Random parts of the crowd for each number of workers and of questions.",
            group=BASIC,
            lowest=2,
            highest=1000,
        ),
    )
    bootstrap: int = option(
        400,
        Whole(
            label="Bootstrap draws",
            help="Draws of questions for the interval of the whole crowd's agreement.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = option(0, OF_GRADING["seed"])
