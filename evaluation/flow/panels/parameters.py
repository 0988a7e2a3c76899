"""What a comparison of panels may be asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.flow.parameters import AqerParameters
from evaluation.options import Parameters, Whole, option
from evaluation.options.declaration import ADVANCED

_OF_GRADING = AqerParameters.options()


@dataclass(frozen=True)
class PanelsParameters(Parameters):
    """How vectors are made, and how each panel makes its exemplary answers."""

    embedder: str = option("minilm", _OF_GRADING["embedder"])
    precision: str = option("float32", _OF_GRADING["precision"])
    similarity: str = option("cosine", _OF_GRADING["similarity"])
    leave_one_out: bool = option(False, _OF_GRADING["leave_one_out"])
    difficulty: bool = option(False, _OF_GRADING["difficulty"])
    discrimination: bool = option(False, _OF_GRADING["discrimination"])
    include_rejected: bool = option(False, _OF_GRADING["include_rejected"])
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
    seed: int = option(0, _OF_GRADING["seed"])

    groups: ClassVar = {ADVANCED: "More settings"}
    sentences: ClassVar = {"unreadable": AqerParameters.sentences["unreadable"]}

    def grading(self) -> AqerParameters:
        """Return how a panel is graded, without intervals."""
        return AqerParameters(
            embedder=self.embedder,
            precision=self.precision,
            similarity=self.similarity,
            leave_one_out=self.leave_one_out,
            difficulty=self.difficulty,
            discrimination=self.discrimination,
            include_rejected=self.include_rejected,
            bootstrap=0,
            seed=self.seed,
        )
