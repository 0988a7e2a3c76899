"""What a grading may be asked to do: one object for the command line, the API and the admin."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from evaluation.backends import BackendError, parse_spec
from evaluation.methods import AQER
from evaluation.methods.aqer.estimator import (
    AGGREGATIONS,
    INITIALIZATIONS,
    SIMILARITIES,
    STOPPING_RULES,
)
from evaluation.texts.spelling import LANGUAGES

__all__ = [
    "AGGREGATIONS",
    "INITIALIZATIONS",
    "REMEDIES",
    "SIMILARITIES",
    "STOPPING_RULES",
    "AqerParameters",
]

# Fields that have the names of `AQER`'s parameters.
OF_ESTIMATOR = (
    "similarity",
    "init",
    "aggregation",
    "stopping",
    "tolerance",
    "max_iterations",
    "leave_one_out",
    "difficulty",
    "discrimination",
    "unit_length",
    "weight_cap",
    "bootstrap_workers",
    "seed",
)
GROUP_VOTE = 0.25
REMEDIES = (
    "exclude_workers",
    "collapse_copies",
    "weight_cap",
    "anchors",
    "suggest_anchors",
    "camps",
    "unit_length",
    "spelling",
)


@dataclass(frozen=True)
class AqerParameters:
    """How vectors are made and how workers are graded; the defaults are the platform's own.

    Attributes
    ----------
    embedder : SPEC of the embedder (`evaluation.backends`).
    precision : "float32", "bfloat16" or "auto".
    nli : name of the entailment model; only for ``init="entailment"``.
    include_rejected : whether answers that were refused where they were collected are graded.
    bootstrap : number of draws; the other fields are those of `AQER`, and the remedies:
    exclude_workers : ids of workers who do not vote and get no grade; in a file those of the file,
        in the database public ids.
    collapse_copies, group_vote : each named group of copies is one unit with a part of a vote.
    anchors : answers graded by an expert settle which camp is right; suggest_anchors : how many
        answers to name for that, 0 for none.
    camps : more than one right answer to questions whose answers fall in two camps.
    spelling : language whose spelling is corrected before embedding; None for none.
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
    exclude_workers: tuple[str, ...] = ()
    collapse_copies: bool = False
    group_vote: float = GROUP_VOTE
    weight_cap: float | None = None
    anchors: bool = False
    suggest_anchors: int = 0
    camps: bool = False
    unit_length: bool = False
    spelling: str | None = None

    def __post_init__(self) -> None:
        """Take a list, which is what JSON has, for the ids."""
        object.__setattr__(self, "exclude_workers", tuple(self.exclude_workers))

    @property
    def remedies(self) -> tuple[str, ...]:
        """Names of the remedies that are asked for, in a fixed order."""
        return tuple(name for name in REMEDIES if getattr(self, name) not in (None, 0, (), False))

    def without_remedies(self) -> Self:
        """Return what a plain run has, for the comparison."""
        default = {field.name: field.default for field in fields(self)}
        plain = {name: default[name] for name in (*REMEDIES, "group_vote")}
        return replace(self, **plain)  # type: ignore[arg-type]

    def estimator(self) -> AQER:
        """Return the estimator that these parameters describe, not yet fitted.

        Remedies that depend on the crowd are none of its parameters: see `evaluation.steps`.
        """
        return AQER(**self.of_estimator())

    def of_estimator(self) -> dict[str, Any]:
        """Return the arguments of `AQER`."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **{name: own[name] for name in OF_ESTIMATOR},
            "n_draws": self.bootstrap,
        }

    def problems(self) -> list[str]:
        """Return what contradicts itself, a sentence each; an empty list if nothing does."""
        try:
            kind = parse_spec(self.embedder).kind
        except BackendError as error:
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
        return found + self._problems_of_remedies(kind)

    def _problems_of_remedies(self, kind: str) -> list[str]:
        found = []
        if not 0 < self.group_vote <= 1:
            found.append(f"--group-vote {self.group_vote:g} must be above 0 and at most 1")
        if self.group_vote != GROUP_VOTE and not self.collapse_copies:
            found.append("--group-vote is only used with --collapse-copies")
        if self.weight_cap is not None and not 0 < self.weight_cap <= 1:
            found.append(f"--weight-cap {self.weight_cap:g} must be above 0 and at most 1")
        if self.suggest_anchors < 0 or self.suggest_anchors == 1:
            found.append("--suggest-anchors must be at least 2: one grade cannot be compared")
        if self.camps and (self.anchors or self.suggest_anchors):
            found.append(
                "--camps takes several answers for right, --anchors and --suggest-anchors look for "
                "the one camp that is: choose one of the two"
            )
        if self.unit_length and self.aggregation == "majority":
            found.append(
                "--unit-length is for --aggregation mean: a majority counts zeros and ones"
            )
        if self.spelling is not None and self.spelling not in LANGUAGES:
            found.append(
                f"--spelling {self.spelling}: there is no dictionary of this language; there are "
                f"{', '.join(LANGUAGES)}"
            )
        if self.spelling is not None and kind == "precomputed":
            found.append("--spelling corrects texts before embedding: precomputed vectors are made")
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        return {**asdict(self), "exclude_workers": list(self.exclude_workers)}
