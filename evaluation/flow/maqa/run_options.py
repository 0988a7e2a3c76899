"""What a run over the database is asked beside the evaluation: whom, how often, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.flow.asking.options import MODEL_SENTENCES, OF_REPLIES
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.options import Whole, option
from evaluation.options.declaration import BASIC, DATABASE


@dataclass(frozen=True)
class MaqaRunOptions(MaqaParameters):
    """Commands on files take these from their own arguments, or need none of them."""

    sentences: ClassVar = {
        **MaqaParameters.sentences,
        **MODEL_SENTENCES,
        "no_models": "choose a model to ask",
        "no_text": "no question of the set has a text",
    }

    models: tuple[str, ...] = option(
        (), replace(OF_REPLIES["models"], help="Each question is put to them several times.")
    )
    samples: int = option(
        5,
        Whole(
            label="Replies to each question",
            help="Whether a model says the same again tells how sure it is; 1 for no such number.",
            group=BASIC,
            places=(DATABASE,),
            lowest=1,
            highest=50,
        ),
    )
    temperature: float = option(
        1.0,
        replace(
            OF_REPLIES["temperature"],
            help="1 for the model's own spread. At 0 all replies are the same.",
        ),
    )
    max_tokens: int = option(256, OF_REPLIES["max_tokens"])
    top_tokens: int = option(
        0,
        Whole(
            label="Likeliest words to ask for",
            help="At the beginning of each answer, with their probabilities; 0 for none. Many "
            "servers give up to 20, some refuse.",
            places=(DATABASE,),
            lowest=0,
            highest=100,
        ),
    )
    vocabulary: int | None = option(
        None,
        Whole(
            label="Tokens of the models",
            help="How many there are, for the upper end of the entropy; with {top_tokens}.",
            places=(DATABASE,),
            optional=True,
            lowest=1,
            highest=100_000_000,
        ),
    )
    budget: float | None = option(None, OF_REPLIES["budget"])

    def evaluation(self) -> MaqaParameters:
        """Return how replies are evaluated, without how they were asked for."""
        return MaqaParameters(**{name: getattr(self, name) for name in MaqaParameters.options()})
