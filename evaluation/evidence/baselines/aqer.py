"""Score workers with AQER and its variants; a variant's name lists the switches it turns on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.consensus import AQER
from evaluation.consensus.methods.question_contrast import FEWER_QUESTIONS, FEWEST_QUESTIONS
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines.corpus import Crowd, UnavailableError


@dataclass(frozen=True)
class Variant:
    """Callable AQER variant: scores the workers of a crowd with certain switches on.

    Attributes
    ----------
    switches : those of `AQER`.
    embedders : SPEC of its own, None for the one of the study; several are put side by side.
    """

    switches: dict[str, Any] = field(default_factory=dict)
    embedders: tuple[str | None, ...] = (None,)

    def __call__(self, crowd: Crowd) -> Floats:
        """Return one raw score per worker; a worker without a vote is scored like a model."""
        model, x = self.fit_voters(crowd)
        raw = np.full(crowd.n_workers, np.nan)
        raw[model.workers_.astype(np.int64)] = model.raw_
        if crowd.votes.all():
            return raw
        outsiders = crowd.compute_worker_means(self.score_nonvoters(crowd, model, x))
        return np.where(np.isnan(raw), outsiders, raw)

    def answers(self, crowd: Crowd) -> Floats:
        """Return each answer's similarity to the exemplary answer of the final weights.

        With leave-one-out the exemplary answer is that of the other workers. NaN where a worker is
        the only one who answered.

        To that of the others with leave-one-out; NaN for an answer that is compared with nothing.
        """
        model, x = self.fit_voters(crowd)
        scores = self.score_nonvoters(crowd, model, x)
        if self.contrasts:
            own = model.contrasts_.answers
        else:
            own = model.leave_one_out_scores_ if model.leave_one_out else model.final_scores_
        scores[crowd.votes] = own
        return scores

    def fit_voters(self, crowd: Crowd) -> tuple[AQER, Vectors]:
        """Fit AQER on the voters' answers; return it with the vectors of the whole corpus.

        Labels of the fit are the crowd's codes of workers and questions.
        """
        corpus = crowd.corpus
        specs = [spec or corpus.embedder for spec in self.embedders]
        # The majority vote needs the words themselves, and question contrast the same space for all
        # questions; the mean vote only needs inner products within each question.
        whole = self.contrasts or self.switches.get("aggregation") == "majority"
        x = corpus.vectors(specs[0]) if whole else corpus.join_embeddings(specs)
        initial = (
            _compute_entailment_start(crowd) if self.switches.get("init") == "entailment" else None
        )
        votes = crowd.votes
        if self.contrasts and len(np.unique(crowd.questions[votes])) < FEWEST_QUESTIONS:
            raise UnavailableError(FEWER_QUESTIONS)
        model = AQER(n_draws=0, seed=crowd.seed, **self.switches)
        model.fit(
            x[crowd.rows[votes]],
            crowd.workers[votes],
            crowd.questions[votes],
            None if initial is None else initial[votes],
        )
        return model, x

    @property
    def contrasts(self) -> bool:
        """Whether the variant scores by question contrast."""
        return bool(self.switches.get("question_contrast"))

    def score_nonvoters(self, crowd: Crowd, model: AQER, x: Vectors) -> Floats:
        """Return each nonvoter's answer score against the voters; NaN for voters."""
        if self.contrasts:
            return _contrast_nonvoters(crowd, model, x)
        exemplars = np.full((crowd.corpus.n_questions, x.shape[1]), np.nan)
        exemplars[model.questions_.astype(np.int64)] = convert_to_dense(model.exemplars())
        scores = np.full(len(crowd.rows), np.nan)
        out = ~crowd.votes
        y, sea = convert_to_dense(x[crowd.rows[out]]), exemplars[crowd.questions[out]]
        if model.similarity == "euclidean":
            scores[out] = -np.linalg.norm(y - sea, axis=1)
        else:
            norms = np.linalg.norm(y, axis=1) * np.linalg.norm(sea, axis=1)
            inner = np.einsum("nd,nd->n", y, sea)
            scores[out] = divide_where_positive(inner, norms, 0.0)
        return scores


def _contrast_nonvoters(crowd: Crowd, model: AQER, x: Vectors) -> Floats:
    """Return the question contrast of each nonvoter's answer; NaN for voters."""
    scores = np.full(len(crowd.rows), np.nan)
    code_of_question = np.full(crowd.corpus.n_questions, -1)
    code_of_question[model.questions_.astype(np.int64)] = np.arange(len(model.questions_))
    question = code_of_question[crowd.questions]
    out = np.flatnonzero(~crowd.votes & (question >= 0))
    exemplars = model.fitted_.crowd.build_exemplars()
    nobody = np.zeros(len(out), dtype=np.int64)
    scores[out] = exemplars.compare_others(x[crowd.rows[out]], nobody, question[out], 1).answers
    return scores


def _compute_entailment_start(crowd: Crowd) -> Floats:
    """Return for each answer the mean probability that the other answers entail it (app. B.1)."""
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

    return crowd.compute_mean_to_others(corpus.tabulate_pairs("entailment", table))


VARIANTS: dict[str, Variant] = {
    "aqer": Variant(),
    "question_contrast": Variant({"question_contrast": True}),
    "aqer_one_pass": Variant({"max_iterations": 1}),
    "aqer_euclidean": Variant({"similarity": "euclidean"}),
    "aqer_random_init": Variant({"init": "random"}),
    "aqer_entailment_init": Variant({"init": "entailment"}),
    "bow_majority": Variant({"aggregation": "majority"}, ("bow",)),
    "tfidf_word": Variant({}, ("tfidf-word",)),
    "tfidf_char": Variant({}, ("tfidf-char",)),
    "leave_one_out": Variant({"leave_one_out": True}),
    "difficulty": Variant({"difficulty": True}),
    "discrimination": Variant({"discrimination": True}),
    "tfidf_char+discrimination": Variant({"discrimination": True}, ("tfidf-char",)),
    "tfidf_char+leave_one_out": Variant({"leave_one_out": True}, ("tfidf-char",)),
    "tfidf_char+leave_one_out+discrimination": Variant(
        {"leave_one_out": True, "discrimination": True}, ("tfidf-char",)
    ),
    "hybrid": Variant({}, ("tfidf-char", None)),
    "hybrid+leave_one_out": Variant({"leave_one_out": True}, ("tfidf-char", None)),
    "hybrid+discrimination": Variant({"discrimination": True}, ("tfidf-char", None)),
}
