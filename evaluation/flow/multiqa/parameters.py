"""How robustness under rewording is evaluated: declared here, read by every door."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from evaluation.flow.parameters import AqerParameters
from evaluation.options import Parameters, Real, Text, option
from evaluation.options.declaration import NOT_SIGNED, named

_OF_AQER = AqerParameters.options()
_SHARE: dict[str, Any] = {"lowest": 0.0, "highest": 1.0}
_EMBEDDER = cast(Text, _OF_AQER["embedder"])


@dataclass(frozen=True)
class MultiqaParameters(Parameters):
    """When a reply is right, when two say the same, and the intervals; defaults of the paper."""

    embedder: str = option(
        "minilm",
        replace(
            _EMBEDDER,
            help="For free text: a reply is right, and two say the same, if their vectors are "
            "alike.",
            suggestions={
                name: words for name, words in _EMBEDDER.suggestions.items() if name != "bow"
            },
        ),
    )
    precision: str = option("float32", _OF_AQER["precision"])
    cosine: float = option(
        0.60,
        Real(
            label="Cosine of a right answer",
            help="A free text is right if its cosine to an accepted answer is above this.",
            **_SHARE,
        ),
    )
    cluster_cosine: float = option(
        0.60,
        Real(
            label="Cosine of the same answer",
            help="Free texts say the same while the mean cosine of their groups is above this; "
            "texts with different numbers never do.",
            signed_as="clusters",
            **_SHARE,
        ),
    )
    levenshtein: float = option(
        0.80,
        Real(
            label="Ratio of letters of a right answer",
            help="Where the matcher is levenshtein: at least this much of the letters are in "
            "common.",
            **_SHARE,
        ),
    )
    reranker: str | None = option(
        None,
        Text(
            label="Re-ranker",
            help="The name or folder of a cross-encoder that the worker has: of free texts that "
            "say the same the one that answers the question best stands for them, in place of the "
            "one nearest their centre.",
            optional=True,
            loads=named,
            signed_as=NOT_SIGNED,
            metavar="NAME",
        ),
    )
    bootstrap: int = option(
        400,
        replace(_OF_AQER["bootstrap"], help="Draws of items for the 95% intervals; 0 for none."),
    )
    seed: int = option(0, _OF_AQER["seed"])

    sentences: ClassVar = {"unreadable": AqerParameters.sentences["unreadable"]}
