"""What a run over the database is asked beside the evaluation: who replies, who judges, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.flow.asking.options import MODEL_SENTENCES, OF_REPLIES
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.options import Parameters, RegisteredModels, Text, Whole, option
from evaluation.options.declaration import BASIC, DATABASE
from evaluation.options.parameters import NOTHING, short_hash


def _hashed(name: str) -> Callable[[Parameters], str]:
    """Return what tells a text in a signature: the beginning of its hash."""

    def sign(parameters: Parameters) -> str:
        text = getattr(parameters, name)
        return short_hash([text]) if text else NOTHING

    return sign


@dataclass(frozen=True)
class EloquentRunOptions(EloquentParameters):
    """Commands on files take these from their own arguments, or need none of them."""

    sentences: ClassVar = {
        **EloquentParameters.sentences,
        **MODEL_SENTENCES,
        "no_models": "choose a model whose replies are compared",
        "no_wordings": "no question has two wordings in one language: upload prompts that ask for "
        "the same in other words, or add variants to the questions",
        "bad_changed_wordings": "{changed_wordings}: {reason}",
    }

    models: tuple[str, ...] = option(
        (),
        replace(OF_REPLIES["models"], help="Each question is put to them in all its wordings."),
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
        replace(
            OF_REPLIES["temperature"],
            label="Temperature of judges",
            help="0 for the likeliest words, 1 for the model's own spread.",
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
    temperature: float = option(0.0, OF_REPLIES["temperature"])
    max_tokens: int = option(256, OF_REPLIES["max_tokens"])

    budget: float | None = option(
        None,
        replace(
            OF_REPLIES["budget"],
            help="Spend no more than this; needs the prices of all models and judges.",
        ),
    )
    told: str | None = option(
        None,
        Text(
            label="What the models are told first",
            help="Before every question; nothing by default, as the task has it.",
            places=(DATABASE,),
            optional=True,
            max_length=10_000,
            rows=2,
            sign=_hashed("told"),
        ),
    )
    follow_ups: str | None = option(
        None,
        Text(
            label="Follow-up questions",
            help="One on each line. Each goes on with every conversation once the model has "
            "replied; the answers of all turns are judged together.",
            places=(DATABASE,),
            optional=True,
            max_length=10_000,
            rows=2,
            sign=_hashed("follow_ups"),
        ),
    )
    changed_wordings: str | None = option(
        None,
        Text(
            label="Changed wordings",
            help="Wordings that are put otherwise than the set has them: a table with the columns "
            "item, language, variant (counted from 1 within the language), prompt and reason, as "
            "a CSV file has it.",
            places=(DATABASE,),
            optional=True,
            max_length=200_000,
            rows=3,
            sign=_hashed("changed_wordings"),
        ),
    )

    @property
    def questions_after(self) -> tuple[str, ...]:
        """The follow-up questions, in their order."""
        lines = (line.strip() for line in (self.follow_ups or "").splitlines())
        return tuple(line for line in lines if line)

    def evaluation(self) -> EloquentParameters:
        """Return how replies are evaluated, without how they were asked for."""
        return EloquentParameters(
            **{name: getattr(self, name) for name in EloquentParameters.options()}
        )
