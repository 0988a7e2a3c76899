"""How replies to prompts that mean the same are evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evaluation.backends import BackendError, for_operators, named_model, parse_spec
from evaluation.flow.parameters import AqerParameters, draws_of
from evaluation.options import Parameters, Problem, Text, option, problem
from evaluation.options.declaration import BASIC


def _unusable(spec: str) -> Problem | None:
    try:
        kind = parse_spec(spec).kind
    except BackendError as error:
        return problem("unreadable", "embedder", reason=str(error))
    return problem("no_file_of_vectors", "embedder") if kind == "precomputed" else None


@dataclass(frozen=True)
class EloquentParameters(Parameters):
    """The embedding beside the judges, and the intervals by items."""

    sentences: ClassVar = {
        **Parameters.sentences,
        "unreadable": "{reason}",
        "no_file_of_vectors": "A file of vectors has no place here: replies are compared as texts.",
    }

    embedder: str = option(
        "minilm",
        Text(
            label="How replies become vectors",
            help="Two replies are as similar as their vectors; judges are not asked for it.",
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
            test=_unusable,
            reserved=for_operators,
            loads=named_model,
            metavar="SPEC",
        ),
    )
    precision: str = option("float32", AqerParameters.options()["precision"])
    bootstrap: int = option(400, draws_of("items", group=BASIC))
    seed: int = option(0, AqerParameters.options()["seed"])
