"""Options of ELOQUENT: for evaluating files, and for runs that ask models and judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.consensus.parameters import AqerParameters, build_draws_option
from evaluation.core.backends import (
    BackendError,
    find_model_name,
    find_reserved_kind,
    parse_embedder_spec,
)
from evaluation.core.options import (
    IntegerOption,
    Parameters,
    Problem,
    RegisteredModelsOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import BASIC, DATABASE
from evaluation.core.options.parameters import NOTHING, compute_short_hash
from evaluation.runs.flow.asking.options import MODEL_SENTENCES, OF_REPLIES


def _find_embedder_problem(spec: str) -> Problem | None:
    """Return why an embedder cannot be used (unreadable, or a file of vectors); None if it can."""
    try:
        kind = parse_embedder_spec(spec).kind
    except BackendError as error:
        return build_problem("unreadable", "embedder", reason=str(error))
    return build_problem("no_file_of_vectors", "embedder") if kind == "precomputed" else None


@dataclass(frozen=True)
class EloquentParameters(Parameters):
    """Evaluation options: embedding of the replies, and bootstrap intervals over items."""

    sentences: ClassVar = {
        **Parameters.sentences,
        "unreadable": "{reason}",
        "no_file_of_vectors": "A file of vectors cannot be used: replies are compared as texts.",
    }

    embedder: str = declare_option(
        "minilm",
        TextOption(
            label="Embedder of replies",
            help="The similarity of two replies is the cosine of their vectors.",
            group=BASIC,
            suggestions={
                "minilm": "MiniLM: meaning of sentences, English, comes with the platform",
                "tfidf-word": "Words, weighted by rarity (TF-IDF): any language, no meaning",
                "tfidf-char": "Letters in groups, weighted by rarity (TF-IDF): tolerates "
                "misspelling",
            },
            other_label="Another embedder",
            other_help="Such as sentence-transformers:paraphrase-multilingual-MiniLM-L12-v2, which "
            "knows many languages. The worker must have it. Operators may name a server as well.",
            test=_find_embedder_problem,
            reserved=find_reserved_kind,
            loads=find_model_name,
            metavar="SPEC",
        ),
    )
    precision: str = declare_option("float32", AqerParameters.get_options()["precision"])
    bootstrap: int = declare_option(400, build_draws_option("items", group=BASIC))
    seed: int = declare_option(0, AqerParameters.get_options()["seed"])


def _build_option_signer(name: str) -> Callable[[Parameters], str]:
    """Return a function that signs the text option `name` with a short hash of its text."""

    def sign(parameters: Parameters) -> str:
        text = getattr(parameters, name)
        return compute_short_hash([text]) if text else NOTHING

    return sign


@dataclass(frozen=True)
class EloquentRunOptions(EloquentParameters):
    """Options of an ELOQUENT run, which asks models and judges."""

    sentences: ClassVar = {
        **EloquentParameters.sentences,
        **MODEL_SENTENCES,
        "no_models": "choose at least one model",
        "no_wordings": "no question has two wordings in one language: upload prompts with the same "
        "meaning, or add variants to the questions",
        "bad_changed_wordings": "{changed_wordings}: {reason}",
        "bad_judge_instructions": "{judge_instructions}: {reason}",
    }

    models: tuple[str, ...] = declare_option(
        (),
        replace(OF_REPLIES["models"], help="Each question is asked in all its wordings."),
    )
    judges: tuple[str, ...] = declare_option(
        (),
        RegisteredModelsOption(
            label="Judges",
            help="Models that score the similarity of the replies. Without a judge only the cosine "
            "similarity is computed.",
            group=BASIC,
            most=5,
        ),
    )
    repeats: int = declare_option(
        1,
        IntegerOption(
            label="Judgements of a set",
            help="Number of judgements of each judge on the same replies. Above 1, set a "
            "{judge_temperature} above 0.",
            places=(DATABASE,),
            lowest=1,
            highest=20,
        ),
    )
    judge_temperature: float = declare_option(
        0.0,
        replace(
            OF_REPLIES["temperature"],
            label="Temperature of judges",
            help="0 takes the likeliest tokens, 1 samples from the model's distribution.",
        ),
    )
    judge_max_tokens: int = declare_option(
        512,
        IntegerOption(
            label="Longest judgement",
            help="In tokens, for the explanation and the score.",
            places=(DATABASE,),
            lowest=8,
            highest=100_000,
        ),
    )
    temperature: float = declare_option(0.0, OF_REPLIES["temperature"])
    max_tokens: int = declare_option(256, OF_REPLIES["max_tokens"])

    budget: float | None = declare_option(
        None,
        replace(
            OF_REPLIES["budget"],
            help="Spend no more than this; needs the prices of all models and judges.",
        ),
    )
    told: str | None = declare_option(
        None,
        TextOption(
            label="System message",
            help="Before every question; nothing by default, as the task has it.",
            places=(DATABASE,),
            optional=True,
            max_length=10_000,
            rows=2,
            sign=_build_option_signer("told"),
        ),
    )
    follow_ups: str | None = declare_option(
        None,
        TextOption(
            label="Follow-up questions",
            help="One follow-up message a line. Each is sent in every conversation after the "
            "model's reply; the answers of all turns are judged together.",
            places=(DATABASE,),
            optional=True,
            max_length=10_000,
            rows=2,
            sign=_build_option_signer("follow_ups"),
        ),
    )
    changed_wordings: str | None = declare_option(
        None,
        TextOption(
            label="Changed wordings",
            help="Wordings that are put otherwise than the set has them: a table with the columns "
            "item, language, variant (counted from 1 within the language), prompt and reason, as "
            "a CSV file has it.",
            places=(DATABASE,),
            optional=True,
            max_length=200_000,
            rows=3,
            sign=_build_option_signer("changed_wordings"),
        ),
    )

    judge_instructions: str | None = declare_option(
        None,
        TextOption(
            label="Instructions to judges for single questions",
            help="In place of the common instruction: a table with the columns item and "
            "instruction, as a CSV file has it.",
            places=(DATABASE,),
            optional=True,
            max_length=200_000,
            rows=3,
            sign=_build_option_signer("judge_instructions"),
        ),
    )

    @property
    def follow_up_questions(self) -> tuple[str, ...]:
        """Follow-up questions, in the order of the conversation."""
        lines = (line.strip() for line in (self.follow_ups or "").splitlines())
        return tuple(line for line in lines if line)

    def build_evaluation_parameters(self) -> EloquentParameters:
        """Return only the options of evaluating replies, without those of asking models."""
        return EloquentParameters(
            **{name: getattr(self, name) for name in EloquentParameters.get_options()}
        )
