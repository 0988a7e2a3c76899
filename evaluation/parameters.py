"""What a grading may be asked to do: one object for the command line, the API and the admin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from evaluation.backends import EmbedderError, parse_spec
from evaluation.methods import AQER
from evaluation.methods.aqer import AGGREGATIONS, INITIALIZATIONS, SIMILARITIES, STOPPING_RULES

__all__ = [
    "AGGREGATIONS",
    "INITIALIZATIONS",
    "SIMILARITIES",
    "STOPPING_RULES",
    "AqerParameters",
]


@dataclass(frozen=True)
class AqerParameters:
    """How vectors are made and how workers are graded; the defaults are the platform's own.

    Attributes
    ----------
    embedder : SPEC of the embedder (`evaluation.backends`).
    precision : "float32", "bfloat16" or "auto".
    nli : name of the entailment model; only for ``init="entailment"``.
    include_rejected : whether answers that were refused where they were collected are graded.
    bootstrap : number of draws; the other fields are those of `AQER`.
    """

    embedder: str = "minilm"
    precision: str = "float32"
    similarity: str = "cosine"
    init: str = "equal"
    nli: str | None = None
    aggregation: str = "mean"
    stopping: str = "relative"
    tolerance: float = 1e-6
    max_iterations: int = 100
    leave_one_out: bool = False
    difficulty: bool = False
    discrimination: bool = False
    include_rejected: bool = False
    bootstrap: int = 400
    bootstrap_workers: bool = False
    seed: int = 0

    def estimator(self) -> AQER:
        """Return the estimator that these parameters describe, not yet fitted."""
        return AQER(
            similarity=self.similarity,
            init=self.init,
            aggregation=self.aggregation,
            stopping=self.stopping,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            leave_one_out=self.leave_one_out,
            difficulty=self.difficulty,
            discrimination=self.discrimination,
            n_draws=self.bootstrap,
            bootstrap_workers=self.bootstrap_workers,
            seed=self.seed,
        )

    def problems(self) -> list[str]:
        """Return what contradicts itself, a sentence each; an empty list if nothing does."""
        try:
            kind = parse_spec(self.embedder).kind
        except EmbedderError as error:
            return [str(error)]
        found = []
        if kind == "precomputed" and self.precision == "bfloat16":
            found.append(
                "--precision is for models that run here: precomputed vectors keep their own"
            )
        if self.init == "entailment" and not self.nli:
            found.append(
                "--init entailment needs an entailment model, and none comes with the platform: "
                "install or download a cross-encoder trained on natural language inference and "
                "pass its name or folder with --nli NAME"
            )
        if self.nli and self.init != "entailment":
            found.append("--nli is only used with --init entailment")
        if self.aggregation == "majority" and kind not in ("bow", "precomputed"):
            found.append(
                "--aggregation majority counts words and needs --embedder bow "
                "(or precomputed vectors of zeros and ones)"
            )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        return asdict(self)
