"""What a run over the database is asked beside the evaluation: who replies, to which wordings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from evaluation.backends import parse_spec
from evaluation.flow.asking.options import MODEL_SENTENCES, AskOptions
from evaluation.flow.crowd_parameters import EXCLUDED, EXCLUDED_SENTENCES
from evaluation.flow.multiqa.items import COSINE, EXACT, LEVENSHTEIN
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.options import (
    Choice,
    Problem,
    Real,
    RegisteredModel,
    RegisteredModels,
    Switch,
    Text,
    Whole,
    option,
    problem,
)
from evaluation.options.declaration import BASIC, DATABASE, NOT_SIGNED, named

_OF_ASKING = AskOptions.options()
BY_KIND = "by-kind"


def _here(**more: Any) -> dict[str, Any]:
    return {"places": (DATABASE,), **more}


@dataclass(frozen=True)
class MultiqaRunOptions(MultiqaParameters):
    """Commands on files take these from their own arguments, or need none of them."""

    models: tuple[str, ...] = option(
        (),
        RegisteredModels(
            label="Models",
            help="Each is asked every wording of every question, in a conversation of its own.",
            group=BASIC,
            most=20,
            needed="no_models",
        ),
    )
    rewriter: str | None = option(
        None,
        RegisteredModel(
            label="Rewriter",
            help="It puts every question in other words. Without one the wordings are the variants "
            "of the questions, typed or imported.",
            group=BASIC,
            optional=True,
        ),
    )
    rewordings: int = option(
        5,
        Whole(
            label="Rewordings of a question",
            help="How many the {rewriter} is asked for.",
            group=BASIC,
            lowest=1,
            highest=20,
            **_here(),
        ),
    )
    crowd: bool = option(
        True,
        Switch(
            label="Measure by people's consensus",
            help="Where people answered the questions, each reply is also scored by what they "
            "agree on. Questions without accepted answers are only measured so.",
            group=BASIC,
            negatable=True,
            **_here(),
        ),
    )
    exclude_workers: tuple[str, ...] = option((), EXCLUDED)
    budget: float | None = option(None, _OF_ASKING["budget"])
    matcher: str = option(
        BY_KIND,
        Choice(
            label="When a reply is right",
            help="Of questions with choices it is always the choice.",
            choices={
                BY_KIND: "by the kind of question: a span by its words, free text by its meaning",
                EXACT: "the same words",
                LEVENSHTEIN: "nearly the same letters",
                COSINE: "the same meaning",
            },
            **_here(),
        ),
    )
    meaning: float = option(
        0.8,
        Real(
            label="Cosine of a rewording",
            help="Rewordings whose vector is less alike to that of their question are dropped; 0 "
            "keeps any.",
            lowest=0.0,
            highest=1.0,
            **_here(),
        ),
    )
    nli: str | None = option(
        None,
        Text(
            label="Entailment model",
            help="The name or folder of a cross-encoder that the worker has: question and "
            "rewording have to entail each other.",
            optional=True,
            loads=named,
            **_here(),
        ),
    )
    entailment: float = option(
        0.5,
        Real(
            label="Probability of entailment",
            help="With {nli}: at least this, both ways.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
            **_here(),
        ),
    )
    temperature: float = option(
        0.0,
        Real(
            label="Temperature",
            help="Of the replies: 0 for the likeliest words, 1 for the model's own spread.",
            lowest=0.0,
            highest=100.0,
            **_here(),
        ),
    )
    max_tokens: int = option(
        256,
        Whole(label="Longest reply", help="In tokens.", lowest=1, highest=1_000_000, **_here()),
    )
    rewriter_tokens: int = option(
        512,
        Whole(
            label="Longest reply of the rewriter",
            help="In tokens.",
            lowest=8,
            highest=1_000_000,
            **_here(),
        ),
    )

    sentences: ClassVar = {
        **MultiqaParameters.sentences,
        **MODEL_SENTENCES,
        **EXCLUDED_SENTENCES,
        "no_models": "choose a model that answers",
        "no_wordings": "no question has other wordings: choose a {rewriter}, or add variants to "
        "the questions",
        "no_ruler": "nothing says which replies are right: give the questions accepted answers, or "
        "let people answer them and choose {crowd}",
        "bad_question": "question {question} cannot be judged: {reason}",
        "no_text": "no question has a text (only their ids came with answers): upload the "
        "questions first",
        "no_file_of_vectors": "a file of vectors has no place here: replies are not known yet",
    }

    def contradictions(self) -> Iterator[Problem]:
        """Yield what contradicts each other."""
        if parse_spec(self.embedder).kind == "precomputed":
            yield problem("no_file_of_vectors", "embedder")

    def evaluation(self) -> MultiqaParameters:
        """Return how replies are evaluated, without how they were asked for."""
        return MultiqaParameters(
            **{name: getattr(self, name) for name in MultiqaParameters.options()}
        )
