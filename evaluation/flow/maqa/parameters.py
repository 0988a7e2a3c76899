"""How MAQA is evaluated: declared here, read by every door (`evaluation.options`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.flow.maqa.spelling import FIXED, PAPER
from evaluation.flow.parameters import SEED_OF_DRAWS, AqerParameters, draws_of
from evaluation.methods.maqa.consistency import EXACT, JACCARD, OVERLAP
from evaluation.options import Choice, Parameters, Real, Text, option
from evaluation.options.declaration import NOT_SIGNED, named

_OF_AQER = AqerParameters.options()


@dataclass(frozen=True)
class MaqaParameters(Parameters):
    """How answers are compared, and how intervals are made.

    What tells which replies say the same is signed where it was needed: by the model that did it.
    """

    rules: str = option(
        FIXED,
        Choice(
            label="Rules",
            help="How an answer is compared with the right ones.",
            choices={
                FIXED: "fixed: without case, punctuation, articles; each right answer found once",
                PAPER: "as in the paper: equal but for case, repetitions count again",
            },
        ),
    )
    similarity: str = option(
        EXACT,
        Choice(
            label="Similarity of two replies",
            help="For the consistency of a system that was asked several times.",
            choices={
                EXACT: "exact: the same set of answers",
                OVERLAP: "overlap: what they share, of the smaller one",
                JACCARD: "Jaccard: what they share, of all",
            },
        ),
    )
    bootstrap: int = option(400, draws_of("questions"))
    seed: int = option(0, SEED_OF_DRAWS)
    embedder: str = option(
        "minilm",
        replace(
            _OF_AQER["embedder"],
            help="For the semantic entropy of a system that was asked several times: two replies "
            "say the same if every answer of either has its like in the other.",
            signed_as=NOT_SIGNED,
        ),
    )
    precision: str = option("float32", replace(_OF_AQER["precision"], signed_as=NOT_SIGNED))
    same_cosine: float = option(
        0.80,
        Real(
            label="Cosine of the same answer",
            help="Two answers are alike if the cosine of their vectors is above this; those with "
            "different numbers never are.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
        ),
    )
    nli: str | None = option(
        None,
        Text(
            label="Entailment model",
            help="The name or folder of a cross-encoder that is there: two answers are then alike "
            "if either entails the other, in place of their vectors.",
            optional=True,
            loads=named,
            metavar="NAME",
            signed_as=NOT_SIGNED,
        ),
    )
    entailment: float = option(
        0.50,
        Real(
            label="Probability of entailment",
            help="With an entailment model: the least one, both ways.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
        ),
    )

    sentences: ClassVar = {"unreadable": AqerParameters.sentences["unreadable"]}
