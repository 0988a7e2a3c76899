"""Options of the study of prompts, besides those of asking models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.consensus.parameters import SEED_OF_DRAWS, AqerParameters, build_draws_option
from evaluation.core.options import Parameters, declare_option


@dataclass(frozen=True)
class PromptingParameters(Parameters):
    """Embedder of answers, and bootstrap of the differences between two prompts."""

    embedder: str = declare_option("minilm", AqerParameters.options()["embedder"])
    bootstrap: int = declare_option(400, build_draws_option("questions"))
    seed: int = declare_option(0, SEED_OF_DRAWS)

    sentences: ClassVar = {
        **Parameters.sentences,
        "unreadable": AqerParameters.sentences["unreadable"],
    }
