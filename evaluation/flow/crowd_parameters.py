"""What every trial of a crowd takes of a grading: how vectors are made, how workers are graded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.flow.parameters import AqerParameters
from evaluation.options import Parameters, option
from evaluation.options.declaration import ADVANCED

OF_GRADING = AqerParameters.options()


@dataclass(frozen=True)
class CrowdParameters(Parameters):
    """Options of a grading that a kind of run has as they are; it adds its draws and its seed."""

    embedder: str = option("minilm", OF_GRADING["embedder"])
    precision: str = option("float32", OF_GRADING["precision"])
    similarity: str = option("cosine", OF_GRADING["similarity"])
    leave_one_out: bool = option(False, OF_GRADING["leave_one_out"])
    difficulty: bool = option(False, OF_GRADING["difficulty"])
    discrimination: bool = option(False, OF_GRADING["discrimination"])
    include_rejected: bool = option(False, OF_GRADING["include_rejected"])

    groups: ClassVar = {ADVANCED: "More settings"}
    sentences: ClassVar = {"unreadable": AqerParameters.sentences["unreadable"]}

    def grading(self) -> AqerParameters:
        """Return how the crowd is graded, without intervals."""
        own = {name: getattr(self, name) for name in self.options() if name in OF_GRADING}
        return AqerParameters(**{**own, "bootstrap": 0})
