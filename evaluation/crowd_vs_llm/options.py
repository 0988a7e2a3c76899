"""Options of a comparison of panels."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.consensus.signatures import OF_GRADING, CrowdParameters
from evaluation.core.options import Whole, declare_option


@dataclass(frozen=True)
class PanelsParameters(CrowdParameters):
    """Options of a comparison of panels: grading of each panel, and bootstrap draws."""

    bootstrap: int = declare_option(
        400,
        Whole(
            label="Bootstrap draws",
            help="Draws of questions for the intervals.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, OF_GRADING["seed"])
