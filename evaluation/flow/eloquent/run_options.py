"""What a run over the database is asked beside the evaluation: who replies, who judges, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.flow.asking.options import MODEL_SENTENCES
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.options import Real, RegisteredModels, Whole, option
from evaluation.options.declaration import BASIC, DATABASE


@dataclass(frozen=True)
class EloquentRunOptions(EloquentParameters):
    """Commands on files take these from their own arguments, or need none of them."""

    sentences: ClassVar = {
        **EloquentParameters.sentences,
        **MODEL_SENTENCES,
        "no_models": "choose a model whose replies are compared",
        "no_wordings": "no question has two wordings in one language: upload prompts that ask for "
        "the same in other words, or add variants to the questions",
    }

    models: tuple[str, ...] = option(
        (),
        RegisteredModels(
            label="Models",
            help="Each question is put to them in all its wordings.",
            group=BASIC,
            most=20,
            needed="no_models",
        ),
    )
    judges: tuple[str, ...] = option(
        (),
        RegisteredModels(
            label="Judges",
            help="They say how alike the replies are. Without one, replies are only compared as "
            "vectors.",
            group=BASIC,
            most=5,
        ),
    )
    repeats: int = option(
        1,
        Whole(
            label="Judgements of a set",
            help="How often each judge is asked about the same replies; beyond 1 choose a "
            "{judge_temperature}.",
            places=(DATABASE,),
            lowest=1,
            highest=20,
        ),
    )
    judge_temperature: float = option(
        0.0,
        Real(
            label="Temperature of judges",
            help="0 for the likeliest words, 1 for the model's own spread.",
            places=(DATABASE,),
            lowest=0.0,
            highest=100.0,
        ),
    )
    judge_max_tokens: int = option(
        512,
        Whole(
            label="Longest judgement",
            help="In tokens: the notes and the score.",
            places=(DATABASE,),
            lowest=8,
            highest=100_000,
        ),
    )
    temperature: float = option(
        0.0,
        Real(
            label="Temperature",
            help="Of the replies: 0 for the likeliest words, 1 for the model's own spread.",
            places=(DATABASE,),
            lowest=0.0,
            highest=100.0,
        ),
    )
    max_tokens: int = option(
        256,
        Whole(
            label="Longest reply",
            help="In tokens.",
            places=(DATABASE,),
            lowest=1,
            highest=1_000_000,
        ),
    )

    def evaluation(self) -> EloquentParameters:
        """Return how replies are evaluated, without how they were asked for."""
        return EloquentParameters(
            **{name: getattr(self, name) for name in EloquentParameters.options()}
        )
