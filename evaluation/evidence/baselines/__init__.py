"""What AQER is compared with, and its own variants, by name.

A method is a function from a `Crowd` to (M,) scores of its workers: higher is better, NaN where a
worker has none, on a scale of its own (studies take correlations and ranks). Workers who do not
vote (`Crowd.voting`) are scored against those who do and change nobody's score, so that a held-out
worker or a language model can be scored by the same function.

    corpus = Corpus(texts, questions, vectors)      # vectors: from an embedder's SPEC to (R, d)
    crowd = Crowd(corpus, rows, workers)            # some of its answers, dealt to workers
    scores = METHODS["bleu4"].score(crowd)

A method that cannot be computed (no model, no key) raises `UnavailableError`, whose reason the
study writes into the empty row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evaluation.evidence.baselines import (
    consistency,
    contradiction,
    exemplars,
    judge,
    lexical,
    patterns,
    reliability,
    tokens,
)
from evaluation.evidence.baselines.aqer import VARIANTS, Variant
from evaluation.evidence.baselines.corpus import Corpus, Crowd, UnavailableError
from evaluation.evidence.baselines.standardised import Standardised
from evaluation.methods.cells import Floats

__all__ = [
    "CONTRADICTION",
    "METHODS",
    "Corpus",
    "Crowd",
    "Method",
    "UnavailableError",
    "Variant",
    "methods",
]

Kind = Literal["aqer", "baseline", "supervised"]


@dataclass(frozen=True)
class Method:
    """A named way to score workers.

    Attributes
    ----------
    name : as in the tables.
    score : from a crowd to (M,) scores.
    kind : "aqer" for AQER and its variants, "baseline" for what it is compared with, "supervised"
        for what knows an answer key.
    core : computed under ``--core`` as well; the others take long or need a model.
    """

    name: str
    score: Callable[[Crowd], Floats]
    kind: Kind = "baseline"
    core: bool = True

    @property
    def answers(self) -> Callable[[Crowd], Floats] | None:
        """From a crowd to (N,) scores of its answers, NaN for none; None if it has no such."""
        return getattr(self.score, "answers", None)


_ALL = (
    Method("frequent", exemplars.frequent),
    Method("mean_vote", exemplars.mean_vote),
    Method("bleu1", lexical.bleu1),
    Method("bleu4", lexical.bleu4),
    Method("f1", lexical.f1),
    Method("bertscore", tokens.bertscore),
    Method("rasa", reliability.rasa),
    Method("hrrasa", reliability.hrrasa, core=False),
    Method("chai2022", consistency.chai2022),
    Method("roy2016", patterns.roy2016),
    Method("judge", judge.judge, core=False),
    *(
        Method(name, variant, "aqer", core=name != "aqer_entailment_init")
        for name, variant in VARIANTS.items()
    ),
    Method("tfidf_char+standardised", Standardised(("tfidf-char",)), "aqer"),
    Method("hybrid+standardised", Standardised(("tfidf-char", None)), "aqer"),
    Method("reference_answer", exemplars.reference_answer, "supervised"),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
# For studies that look at contradiction: the tables of the others have no row of it.
CONTRADICTION = Method("contradiction", contradiction.contradiction, core=False)


def methods(*, core: bool = False) -> list[Method]:
    """Return all methods, or the core ones, in the order of the tables."""
    return [method for method in _ALL if method.core or not core]
