"""Options of MultiQ&A: for evaluating replies, and for runs that ask models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import EXCLUDED, EXCLUDED_SENTENCES
from evaluation.core.backends import parse_embedder_spec
from evaluation.core.options import (
    ChoiceOption,
    FloatOption,
    IntegerOption,
    Parameters,
    Problem,
    RegisteredModelOption,
    RegisteredModelsOption,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import BASIC, DATABASE, NOT_SIGNED, get_model_name
from evaluation.core.text.items import COSINE, EXACT, LEVENSHTEIN
from evaluation.runs.flow.asking.options import MODEL_SENTENCES, AskOptions

_AQER_OPTIONS = AqerParameters.get_options()
_SHARE: dict[str, Any] = {"lowest": 0.0, "highest": 1.0}
_EMBEDDER = cast(TextOption, _AQER_OPTIONS["embedder"])


@dataclass(frozen=True)
class MultiqaParameters(Parameters):
    """Evaluation options of MultiQ&A, with the paper's defaults: matching, clusters, bootstrap."""

    embedder: str = declare_option(
        "minilm",
        replace(
            _EMBEDDER,
            help="For free text: a reply is right, or two have the same meaning, if their "
            "vectors are similar.",
            suggestions={
                name: words for name, words in _EMBEDDER.suggestions.items() if name != "bow"
            },
        ),
    )
    precision: str = declare_option("float32", _AQER_OPTIONS["precision"])
    cosine: float = declare_option(
        0.60,
        FloatOption(
            label="Cosine of a right answer",
            help="A free text is right if its cosine to an accepted answer is above this.",
            **_SHARE,
        ),
    )
    tune_cosine: bool = declare_option(
        False,
        SwitchOption(
            label="Use the tuned cosine",
            help="Takes the cosine of a right answer that makes the fewest errors on labelled "
            "pairs, in place of the number above.",
            signed_as=NOT_SIGNED,
        ),
    )
    cluster_cosine: float = declare_option(
        0.60,
        FloatOption(
            label="Cosine of the same answer",
            help="Free texts are clustered as one answer while the mean cosine between clusters is "
            "above this. Texts with different numbers are never one answer.",
            signed_as="clusters",
            **_SHARE,
        ),
    )
    levenshtein: float = declare_option(
        0.80,
        FloatOption(
            label="Levenshtein ratio of a right answer",
            help="With the matcher levenshtein: the smallest ratio that counts as right.",
            **_SHARE,
        ),
    )
    reranker: str | None = declare_option(
        None,
        TextOption(
            label="Re-ranker",
            help="Name or folder of a cross-encoder on the background process's machine. It "
            "chooses the representative of each cluster of free texts, in place of the text "
            "nearest the centre.",
            optional=True,
            loads=get_model_name,
            signed_as=NOT_SIGNED,
            metavar="NAME",
        ),
    )
    bootstrap: int = declare_option(
        400,
        replace(
            _AQER_OPTIONS["bootstrap"], help="Draws of items for the 95% intervals; 0 for none."
        ),
    )
    seed: int = declare_option(0, _AQER_OPTIONS["seed"])

    sentences: ClassVar = {"unreadable": AqerParameters.sentences["unreadable"]}


_ASK_OPTIONS = AskOptions.get_options()
BY_KIND = "by-kind"


def _limit_to_runs(**more: Any) -> dict[str, Any]:
    """Return keyword arguments of an option that only runs on the database have."""
    return {"places": (DATABASE,), **more}


@dataclass(frozen=True)
class MultiqaRunOptions(MultiqaParameters):
    """Options of a MultiQ&A run, which asks models; commands on files have arguments instead."""

    models: tuple[str, ...] = declare_option(
        (),
        RegisteredModelsOption(
            label="Models",
            help="Each model gets every wording of every question, in its own conversation.",
            group=BASIC,
            most=20,
            needed="no_models",
        ),
    )
    rewriter: str | None = declare_option(
        None,
        RegisteredModelOption(
            label="Rewriter",
            help="This model rewords every question. Without it, the variants of the questions "
            "(typed or imported) are used.",
            group=BASIC,
            optional=True,
        ),
    )
    rewordings: int = declare_option(
        5,
        IntegerOption(
            label="Rewordings of a question",
            help="Number of rewordings that the {rewriter} is asked for.",
            group=BASIC,
            lowest=1,
            highest=20,
            **_limit_to_runs(),
        ),
    )
    crowd: bool = declare_option(
        True,
        SwitchOption(
            label="Compute the crowd score",
            help="Also scores each reply by its similarity to the exemplary answer of the "
            "workers. It is the only measure of questions without accepted answers.",
            group=BASIC,
            negatable=True,
            **_limit_to_runs(),
        ),
    )
    exclude_workers: tuple[str, ...] = declare_option((), EXCLUDED)
    budget: float | None = declare_option(None, _ASK_OPTIONS["budget"])
    matcher: str = declare_option(
        BY_KIND,
        ChoiceOption(
            label="Matcher of right replies",
            help="Questions with choices are always matched by the choice.",
            choices={
                BY_KIND: "by question type: spans by exact match, free text by cosine",
                EXACT: "exact: the same words",
                LEVENSHTEIN: "levenshtein: nearly the same letters",
                COSINE: "cosine: the same meaning",
            },
            **_limit_to_runs(),
        ),
    )
    meaning: float = declare_option(
        0.8,
        FloatOption(
            label="Cosine of a rewording",
            help="Rewordings with a smaller cosine to their question are rejected; 0 keeps all.",
            lowest=0.0,
            highest=1.0,
            **_limit_to_runs(),
        ),
    )
    nli: str | None = declare_option(
        None,
        TextOption(
            label="Entailment model",
            help="Name or folder of a cross-encoder on the background process's machine. Question "
            "and rewording must entail each other.",
            optional=True,
            loads=get_model_name,
            **_limit_to_runs(),
        ),
    )
    entailment: float = declare_option(
        0.5,
        FloatOption(
            label="Probability of entailment",
            help="With {nli}: the smallest probability, in both directions.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
            **_limit_to_runs(),
        ),
    )
    temperature: float = declare_option(
        0.0,
        FloatOption(
            label="Temperature",
            help="Of the replies: 0 takes the likeliest tokens, 1 samples from the model's "
            "distribution.",
            lowest=0.0,
            highest=100.0,
            **_limit_to_runs(),
        ),
    )
    max_tokens: int = declare_option(
        256,
        IntegerOption(
            label="Longest reply",
            help="In tokens.",
            lowest=1,
            highest=1_000_000,
            **_limit_to_runs(),
        ),
    )
    rewriter_tokens: int = declare_option(
        512,
        IntegerOption(
            label="Longest reply of the rewriter",
            help="In tokens.",
            lowest=8,
            highest=1_000_000,
            **_limit_to_runs(),
        ),
    )

    sentences: ClassVar = {
        **MultiqaParameters.sentences,
        **MODEL_SENTENCES,
        **EXCLUDED_SENTENCES,
        "no_models": "choose at least one model",
        "no_wordings": "no question has a rewording: choose a {rewriter}, or add variants to "
        "the questions",
        "no_ruler": "no reply can be scored: add accepted answers to the questions, or collect "
        "workers' answers and choose {crowd}",
        "bad_question": "question {question} cannot be scored: {reason}",
        "no_text": "no question has a text (only ids were imported with the answers): upload the "
        "questions first",
        "no_tuned_cosine": "no tuned cosine is known for this embedder: use minilm, or leave out "
        "{tune_cosine}",
        "no_file_of_vectors": "a file of vectors cannot be used: the replies are not known yet",
    }

    def find_conflicts(self) -> Iterator[Problem]:
        """Yield a problem if the embedder is a file of vectors, which a run cannot use."""
        if parse_embedder_spec(self.embedder).kind == "precomputed":
            yield build_problem("no_file_of_vectors", "embedder")

    def build_evaluation_parameters(self) -> MultiqaParameters:
        """Return only the options of evaluating replies, without those of asking models."""
        return MultiqaParameters(
            **{name: getattr(self, name) for name in MultiqaParameters.get_options()}
        )
