"""Register the methods that score workers: AQER, its variants and the baselines, by name.

A method is a function from a `Crowd` to (M,) scores of its workers: higher is better, NaN where a
worker has none, on a scale of its own (studies take correlations and ranks). Workers who do not
vote (`Crowd.voting`) are scored against those who do and change no other score, so that a held-out
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

from evaluation.core.stats.cells import Floats
from evaluation.evidence.baselines import entailment, judge, overlap, weighting
from evaluation.evidence.baselines.corpus import Corpus, Crowd, UnavailableError
from evaluation.evidence.baselines.weighting import VARIANTS, Standardised, Variant

__all__ = [
    "CONTRADICTION",
    "METHODS",
    "WITH_ENTAILMENT",
    "Corpus",
    "Crowd",
    "Method",
    "UnavailableError",
    "Variant",
    "list_methods",
]

Kind = Literal["aqer", "baseline", "control", "supervised"]


@dataclass(frozen=True)
class Method:
    """Named method that scores the workers of a crowd.

    Attributes
    ----------
    name : as in the tables.
    score : from a crowd to (M,) scores.
    kind : "aqer" for AQER and its variants, "baseline" for methods of others, "control" for a
        method that reads no answer, "supervised" for one that knows an answer key.
    core : computed under ``--core`` as well; the others take long or need a model.
    """

    name: str
    score: Callable[[Crowd], Floats]
    kind: Kind = "baseline"
    core: bool = True

    @property
    def answers(self) -> Callable[[Crowd], Floats] | None:
        """Function from a crowd to one score per answer.

        None if the method scores workers only.
        """
        return getattr(self.score, "answers", None)


_ALL = (
    Method("frequent", overlap.score_by_modal_answer),
    Method("mean_vote", overlap.score_by_mean_vote),
    Method("bleu1", overlap.score_by_bleu1),
    Method("bleu4", overlap.score_by_bleu4),
    Method("f1", overlap.score_by_token_f1),
    Method("bertscore", overlap.score_by_bertscore),
    Method("rasa", weighting.score_by_rasa),
    Method("hrrasa", weighting.score_by_hrrasa, core=False),
    Method("chai2022", weighting.score_by_error_consistency),
    Method("roy2016", overlap.score_by_shared_patterns),
    Method("judge", judge.score_by_judge, core=False),
    *(
        Method(name, variant, "aqer", core=name != "aqer_entailment_init")
        for name, variant in VARIANTS.items()
    ),
    Method("tfidf_char+standardised", Standardised(("tfidf-char",)), "aqer"),
    Method("hybrid+standardised", Standardised(("tfidf-char", None)), "aqer"),
    Method("length", overlap.score_by_length, "control"),
    Method("reference_answer", overlap.score_by_reference, "supervised"),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
# Not in `METHODS`: only studies of contradiction have a row of it.
CONTRADICTION = Method("contradiction", entailment.score_contradiction, core=False)
# Nor are these: they are rows of the table of an entailment model.
WITH_ENTAILMENT = (
    METHODS["aqer"],
    Method("entailment", entailment.score_entailment),
    Method("aqer+entailment", entailment.score_aqer_and_entailment),
    Method("entailment_reference", entailment.score_entailment_by_reference, "supervised"),
    Method("aqer+entailment_reference", entailment.score_aqer_and_reference, "supervised"),
    CONTRADICTION,
)


def list_methods(*, core: bool = False) -> list[Method]:
    """Return the registered methods in table order; with `core` only the quick ones."""
    return [method for method in _ALL if method.core or not core]
