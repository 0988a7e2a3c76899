"""Options of a run that generates questions with several right answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.core.options import (
    IntegerOption,
    Parameters,
    RegisteredModelOption,
    TextOption,
    declare_option,
)
from evaluation.core.options.declaration import BASIC, DATABASE
from evaluation.runs.flow.asking.options import MODEL_SENTENCES, MOST_SEED, OF_REPLIES

MOST_TOPICS = 200


@dataclass(frozen=True)
class ConstructionOptions(Parameters):
    """Options of a construction run: models, topics, batches, budget."""

    sentences: ClassVar = {
        **Parameters.sentences,
        **MODEL_SENTENCES,
        "no_models": "choose the model that generates the questions",
        "no_source": "write topics, one in each line: no question of the set has a text",
        "too_many_topics": "{given} topics or questions are too many: at most {most} in one run",
    }

    generator: str | None = declare_option(
        None,
        RegisteredModelOption(
            label="Generating model",
            help="It writes questions with all their right answers.",
            group=BASIC,
            optional=True,
            needed="no_models",
        ),
    )
    verifier: str | None = declare_option(
        None,
        RegisteredModelOption(
            label="Verifying model",
            help="It checks whether the answers of each candidate are right and complete. Without "
            "one, validators check every candidate that passes the filters.",
            group=BASIC,
            optional=True,
        ),
    )
    topics: str | None = declare_option(
        None,
        TextOption(
            label="Topics",
            help="One in each line. Without topics, the model writes questions like those of the "
            "set.",
            group=BASIC,
            places=(DATABASE,),
            optional=True,
            rows=5,
            max_length=20_000,
        ),
    )
    per_request: int = declare_option(
        5,
        IntegerOption(
            label="Questions in a batch",
            help="Questions that one request asks for.",
            group=BASIC,
            places=(DATABASE,),
            lowest=1,
            highest=20,
        ),
    )
    batches: int = declare_option(
        1,
        IntegerOption(
            label="Batches for each topic",
            help="Requests about each topic or question.",
            group=BASIC,
            places=(DATABASE,),
            lowest=1,
            highest=50,
        ),
    )
    budget: float | None = declare_option(None, OF_REPLIES["budget"])
    temperature: float = declare_option(
        1.0,
        replace(
            OF_REPLIES["temperature"],
            help="Of the generating model. The verifying model is asked at 0.",
        ),
    )
    max_tokens: int = declare_option(1024, OF_REPLIES["max_tokens"])
    seed: int = declare_option(
        0,
        IntegerOption(
            label="Seed",
            help="Of the requests, where the server takes one.",
            places=(DATABASE,),
            highest=MOST_SEED,
        ),
    )

    def list_topics(self) -> list[str]:
        """Return the distinct topics in their order, without empty lines."""
        lines = (line.strip() for line in (self.topics or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))
