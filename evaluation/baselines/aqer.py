"""AQER and its variants, each switching on what its name says and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.baselines.corpus import Crowd, UnavailableError
from evaluation.methods import AQER
from evaluation.methods.cells import Floats, Integers
from evaluation.methods.grams import Vectors, dense


@dataclass(frozen=True)
class Variant:
    """AQER with some switches.

    Attributes
    ----------
    switches : those of `AQER`. embedder : SPEC of its own; None for the one of the study.
    """

    switches: dict[str, Any] = field(default_factory=dict)
    embedder: str | None = None

    def __call__(self, crowd: Crowd) -> Floats:
        """Return (M,) raw scores; who does not vote gets the score of a model."""
        corpus, spec = crowd.corpus, self.embedder or crowd.corpus.embedder
        majority = self.switches.get("aggregation") == "majority"
        # The majority vote needs the words themselves; the mean vote their inner products.
        x = corpus.vectors(spec) if majority else corpus.compact(spec)
        initial = _entailment(crowd) if self.switches.get("init") == "entailment" else None
        votes = crowd.votes
        model = AQER(n_draws=0, seed=crowd.seed, **self.switches)
        model.fit(
            x[crowd.rows[votes]],
            crowd.workers[votes],
            crowd.questions[votes],
            None if initial is None else initial[votes],
        )
        raw = np.full(crowd.n_workers, np.nan)
        raw[model.workers_.astype(np.int64)] = model.raw_
        if votes.all():
            return raw
        return np.where(np.isnan(raw), self._outsiders(crowd, model, x), raw)

    def _outsiders(self, crowd: Crowd, model: AQER, x: Vectors) -> Floats:
        """(M,) mean similarity to the exemplary answers of those who vote; NaN for these."""
        exemplars = np.full((crowd.corpus.n_questions, x.shape[1]), np.nan)
        exemplars[model.questions_.astype(np.int64)] = dense(model.exemplars())
        scores = np.full(len(crowd.rows), np.nan)
        out = ~crowd.votes
        y, sea = dense(x[crowd.rows[out]]), exemplars[crowd.questions[out]]
        if model.similarity == "euclidean":
            scores[out] = -np.linalg.norm(y - sea, axis=1)
        else:
            norms = np.linalg.norm(y, axis=1) * np.linalg.norm(sea, axis=1)
            inner = np.einsum("nd,nd->n", y, sea)
            scores[out] = np.divide(inner, norms, out=0.0 * inner, where=norms > 0)
        return crowd.worker_means(scores)


def _entailment(crowd: Crowd) -> Floats:
    """Return (N,) mean probability that the others' answers entail each answer (app. B.1)."""
    corpus, entails = crowd.corpus, crowd.corpus.entails
    if entails is None:
        raise UnavailableError("no_nli_model")

    def table(rows: Integers) -> Floats:
        # [i, j]: answer i is entailed by answer j.
        hypothesis, premise = np.meshgrid(rows, rows, indexing="ij")
        pairs = np.column_stack([premise.ravel(), hypothesis.ravel()])
        found = np.zeros(len(pairs))
        different = pairs[:, 0] != pairs[:, 1]
        found[different] = entails(pairs[different])
        return found.reshape(len(rows), len(rows))

    return crowd.against_others(corpus.pairs("entailment", table))


VARIANTS: dict[str, Variant] = {
    "aqer": Variant(),
    "aqer_one_pass": Variant({"max_iterations": 1}),
    "aqer_euclidean": Variant({"similarity": "euclidean"}),
    "aqer_random_init": Variant({"init": "random"}),
    "aqer_entailment_init": Variant({"init": "entailment"}),
    "bow_majority": Variant({"aggregation": "majority"}, "bow"),
    "tfidf_word": Variant(embedder="tfidf-word"),
    "tfidf_char": Variant(embedder="tfidf-char"),
    "leave_one_out": Variant({"leave_one_out": True}),
    "difficulty": Variant({"difficulty": True}),
    "discrimination": Variant({"discrimination": True}),
    "tfidf_char+discrimination": Variant({"discrimination": True}, "tfidf-char"),
}
