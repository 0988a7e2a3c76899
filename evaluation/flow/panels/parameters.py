"""What a comparison of panels may be asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.flow.crowd_parameters import OF_GRADING, CrowdParameters
from evaluation.options import Whole, option


@dataclass(frozen=True)
class PanelsParameters(CrowdParameters):
    """How each panel is graded, and how often questions are drawn."""

    bootstrap: int = option(
        400,
        Whole(
            label="Bootstrap draws",
            help="Draws of questions for the intervals.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = option(0, OF_GRADING["seed"])
