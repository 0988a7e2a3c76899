"""Score workers by weighted answers: AQER's variants, reliabilities, consistency.

Score workers with AQER and its variants; a variant's name lists the switches it turns on.

Similarities vary more on some questions than on others for reasons unrelated to workers, such as
the length of answers. `StandardisedScores` weights questions only by how well they separate good
workers from poor ones.

RASA and HRRASA estimate an answer to each question as a weighted mean of vectors, and a worker's
reliability as the inverse of its squared distances to these, in turn. crowd-kit has both, and tests
compare the numbers to 1e-12. Here they run on arrays: crowd-kit takes about 85 times as long, has
no workers who are scored without a vote (`Crowd.voting`), and needs an older pandas.

Score answers by the consistency of their errors in two vector spaces (Chai et al. 2022).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse, stats

from evaluation.consensus import AQER
from evaluation.consensus.methods.fixed_point import compute_item_rest_weights
from evaluation.consensus.methods.question_contrast import FEWER_QUESTIONS, FEWEST_QUESTIONS
from evaluation.core.stats.cells import (
    Cells,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.grams import Vectors, compact_vectors, convert_to_dense
from evaluation.evidence.baselines.corpus import Corpus, Crowd, MeanAnswerScore, UnavailableError
from evaluation.evidence.baselines.overlap import tabulate_gleu


@dataclass(frozen=True)
class AqerVariant:
    """Callable variant of AQER: scores the workers of a crowd with certain switches on.

    Attributes
    ----------
    switches : keyword arguments of `AQER`.
    embedders : SPECs of the variant, None for the study's embedder; vectors of several are joined.
    """

    switches: dict[str, Any] = field(default_factory=dict)
    embedders: tuple[str | None, ...] = (None,)

    def __call__(self, crowd: Crowd) -> Floats:
        """Return each worker's raw score; a worker without a vote is scored like a model."""
        model, x = self.fit_voters(crowd)
        raw = np.full(crowd.n_workers, np.nan)
        raw[model.workers_.astype(np.int64)] = model.raw_
        if crowd.votes.all():
            return raw
        outsiders = crowd.compute_worker_means(self.score_nonvoters(crowd, model, x))
        return np.where(np.isnan(raw), outsiders, raw)

    def score_answers(self, crowd: Crowd) -> Floats:
        """Return each answer's similarity to the exemplary answer of the final weights.

        With leave-one-out the exemplary answer is that of the other workers. NaN for an answer that
        is compared with no other.
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
        # Without draws: the studies use the scores, not their intervals.
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
        """Whether the variant scores answers by question contrast instead of by similarity."""
        return bool(self.switches.get("question_contrast"))

    def score_nonvoters(self, crowd: Crowd, model: AQER, x: Vectors) -> Floats:
        """Return the scores of nonvoters' answers by the voters' exemplars; NaN for voters."""
        if self.contrasts:
            return _contrast_nonvoters(crowd, model, x)
        exemplars = np.full((crowd.corpus.n_questions, x.shape[1]), np.nan)
        exemplars[model.questions_.astype(np.int64)] = convert_to_dense(model.compute_exemplars())
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
    """Return the question-contrast score of each nonvoter's answer; NaN for voters."""
    scores = np.full(len(crowd.rows), np.nan)
    code_of_question = np.full(crowd.corpus.n_questions, -1)
    code_of_question[model.questions_.astype(np.int64)] = np.arange(len(model.questions_))
    question = code_of_question[crowd.questions]
    out = np.flatnonzero(~crowd.votes & (question >= 0))
    exemplars = model.fitted_.crowd.build_exemplars()
    is_empty = np.zeros(len(out), dtype=np.int64)
    scores[out] = exemplars.compare_others(x[crowd.rows[out]], is_empty, question[out], 1).answers
    return scores


def _compute_entailment_start(crowd: Crowd) -> Floats:
    """Return each answer's mean probability of being entailed by the other answers (app. B.1)."""
    corpus, entails = crowd.corpus, crowd.corpus.entails
    if entails is None:
        raise UnavailableError("no_nli_model")

    def table(rows: Integers) -> Floats:
        """Return the probabilities that answer i (row) is entailed by answer j (column)."""
        # [i, j]: answer i is entailed by answer j.
        hypothesis, premise = np.meshgrid(rows, rows, indexing="ij")
        pairs = np.column_stack([premise.ravel(), hypothesis.ravel()])
        found = np.zeros(len(pairs))
        different = pairs[:, 0] != pairs[:, 1]
        found[different] = entails(pairs[different])
        return found.reshape(len(rows), len(rows))

    return crowd.compute_mean_similarity_to_others(corpus.tabulate_pairs("entailment", table))


VARIANTS: dict[str, AqerVariant] = {
    "aqer": AqerVariant(),
    "question_contrast": AqerVariant({"question_contrast": True}),
    "aqer_one_pass": AqerVariant({"max_iterations": 1}),
    "aqer_euclidean": AqerVariant({"similarity": "euclidean"}),
    "aqer_random_init": AqerVariant({"init": "random"}),
    "aqer_entailment_init": AqerVariant({"init": "entailment"}),
    "bow_majority": AqerVariant({"aggregation": "majority"}, ("bow",)),
    "tfidf_word": AqerVariant({}, ("tfidf-word",)),
    "tfidf_char": AqerVariant({}, ("tfidf-char",)),
    "leave_one_out": AqerVariant({"leave_one_out": True}),
    "difficulty": AqerVariant({"difficulty": True}),
    "discrimination": AqerVariant({"discrimination": True}),
    "tfidf_char+discrimination": AqerVariant({"discrimination": True}, ("tfidf-char",)),
    "tfidf_char+leave_one_out": AqerVariant({"leave_one_out": True}, ("tfidf-char",)),
    "tfidf_char+leave_one_out+discrimination": AqerVariant(
        {"leave_one_out": True, "discrimination": True}, ("tfidf-char",)
    ),
    "hybrid": AqerVariant({}, ("tfidf-char", None)),
    "hybrid+leave_one_out": AqerVariant({"leave_one_out": True}, ("tfidf-char", None)),
    "hybrid+discrimination": AqerVariant({"discrimination": True}, ("tfidf-char", None)),
}


@dataclass(frozen=True)
class StandardisedScores:
    """Method that scores workers by z-scores of their answers, weighted by item-rest correlation.

    The leave-one-out scores of AQER (with discrimination) are scaled to mean 0 and standard
    deviation 1 over a question's voters. A worker's score is the mean z-score, weighted by the
    question's item-rest correlation. Questions with equal scores of all voters have weight 0. The
    method assumes that workers answer the same questions, or random ones.

    Attributes
    ----------
    embedders : as in `AqerVariant`.
    """

    embedders: tuple[str | None, ...] = (None,)

    def __call__(self, crowd: Crowd) -> Floats:
        """Return each worker's weighted mean z-score of its answers, around 0."""
        z = self.score_answers(crowd)
        weights = _compute_question_weights(z, crowd)[crowd.questions]
        known = ~np.isnan(z)
        weights = np.where(known, weights, 0.0)
        m = crowd.n_workers
        total = np.bincount(crowd.workers, weights * np.where(known, z, 0.0), minlength=m)
        count = np.bincount(crowd.workers, weights, minlength=m)
        return divide_where_positive(total, count)

    def score_answers(self, crowd: Crowd) -> Floats:
        """Return each answer's z-score within its question; NaN without spread."""
        variant = AqerVariant({"leave_one_out": True, "discrimination": True}, self.embedders)
        model, x = variant.fit_voters(crowd)
        votes = crowd.votes
        scores = np.empty(len(crowd.rows))
        scores[votes] = model.leave_one_out_scores_
        if not votes.all():
            scores[~votes] = variant.score_nonvoters(crowd, model, x)[~votes]
        return _compute_z_scores(scores, crowd)


def _compute_z_scores(scores: Floats, crowd: Crowd) -> Floats:
    """Return each answer's z-score in its question, from the voters' scores; NaN without spread."""
    is_used = crowd.votes & ~np.isnan(scores)
    question, q = crowd.questions, crowd.corpus.n_questions
    # At least 1, so that a question without voters does not divide by zero.
    n = np.maximum(np.bincount(question[is_used], minlength=q), 1)
    mean = np.bincount(question[is_used], scores[is_used], minlength=q) / n
    offset = scores - mean[question]
    spread = np.sqrt(np.bincount(question[is_used], offset[is_used] ** 2, minlength=q) / n)
    # Relative to the mean: equal scores leave a spread of rounding errors only.
    has_spread = spread > 1e-9 * np.maximum(1.0, np.abs(mean))
    spread = np.where(has_spread, spread, np.nan)
    return np.asarray(offset / spread[question])


def _compute_question_weights(z: Floats, crowd: Crowd) -> Floats:
    """Return each question's item-rest correlation of the voters' z-scores; 0 without any."""
    is_used = crowd.votes & ~np.isnan(z)
    weights = np.zeros(crowd.corpus.n_questions)
    if is_used.any():
        worker, workers = encode_labels(crowd.workers[is_used])
        question, questions = encode_labels(crowd.questions[is_used])
        cells = Cells.from_codes(worker, question, len(workers), len(questions))
        item_rest = compute_item_rest_weights(
            z[is_used][cells.row][:, None], np.ones((len(cells), 1)), cells
        )
        weights[questions.astype(np.int64)] = cells.to_questions(item_rest)[:, 0]
    return weights


ALPHA = 0.05
TOLERANCE = 1e-9
MOST_ITERATIONS = 100
# Lower bound of a worker's total squared distance, as in crowd-kit: it avoids division by zero.
NEAREST = 1e-5


def score_by_rasa(crowd: Crowd) -> Floats:
    """Return each worker's reliability by RASA, above 0 (Li and Fukumoto 2019).

    By the vectors of the study instead of the Universal Sentence Encoder; constants as in
    crowd-kit. NaN for a worker without answers.
    """
    return _estimate_reliabilities(crowd, np.ones(len(crowd.rows)))


def score_by_hrrasa(crowd: Crowd) -> Floats:
    """Return each worker's global reliability by HRRASA, above 0 (Li 2020).

    An answer's own reliability is half the mean of exp(-|x - y|^2 / (|x|^2 |y|^2)) and half the
    mean sentence GLEU over the other answers to its question. Questions with a single answer are
    left out. Adapted: vectors as in `score_by_rasa`, and GLEU between words (crowd-kit's default
    compares the words of one answer with the letters of the other).
    """
    local = crowd.compute_mean_similarity_to_others(_tabulate_nearness(crowd.corpus)) / 2
    local += crowd.compute_mean_similarity_to_others(tabulate_gleu(crowd.corpus)) / 2
    # Where only one worker votes there is no answer of the crowd, for outsiders either.
    voters = crowd.vote_table.sum(axis=1)[crowd.questions]
    return _estimate_reliabilities(crowd, np.where(voters > 1, local, np.nan))


def _tabulate_nearness(corpus: Corpus) -> Floats:
    """Return the table (question, answer, answer) of exp(-|x - y|^2 / (|x|^2 |y|^2))."""
    x = corpus.compact_vectors(corpus.embedder)

    def table(rows: np.ndarray) -> Floats:
        """Return the nearness of some answers, from their vectors."""
        squared = np.einsum("nd,nd->n", x[rows], x[rows])
        # Rounding may leave the distance of two equal vectors below 0.
        distance = np.maximum(squared[:, None] + squared - 2 * x[rows] @ x[rows].T, 0.0)
        product = squared[:, None] * squared
        infinite = np.full_like(product, np.inf)
        return np.exp(-np.divide(distance, product, out=infinite, where=product > 0))

    return corpus.tabulate_pairs(("nearness", corpus.embedder), table)


def _estimate_reliabilities(crowd: Crowd, local: Floats) -> Floats:
    """Return each worker's reliability (RASA), given each answer's own; NaN omits an answer."""
    keep = ~np.isnan(local)
    x = crowd.corpus.compact_vectors(crowd.corpus.embedder)[crowd.rows[keep]]
    worker, question, local = crowd.workers[keep], crowd.questions[keep], local[keep]
    votes = crowd.votes[keep].astype(np.float64)
    m, size = crowd.n_workers, (crowd.corpus.n_questions, len(worker))
    of_question = sparse.csr_array((np.ones(len(worker)), (question, np.arange(size[1]))), size)
    answered = np.bincount(worker, minlength=m)
    prior = np.where(answered > 0, stats.chi2.isf(ALPHA / 2, np.maximum(answered, 1)), np.nan)
    # RASA starts from equal reliabilities, HRRASA from those of the answers.
    skill, last = np.ones(m), None
    for _ in range(MOST_ITERATIONS):
        weight = np.where(votes > 0, skill[worker], 0.0) * local
        total = (of_question @ weight)[:, None]
        total_vector = of_question @ (weight[:, None] * x)
        mean = divide_where_positive(total_vector, total, 0.0)
        offset = x - mean[question]
        distance = np.einsum("nd,nd->n", offset, offset) / local
        skill = prior / np.maximum(np.bincount(worker, distance, minlength=m), NEAREST)
        if last is not None and ((mean - last) ** 2).sum() < TOLERANCE * (mean**2).sum():
            break
        last = mean
    return np.asarray(skill)


# Least error of an answer: with an error of 0 it would take all the weight.
LEAST_ERROR = 1e-6
# Single words, of one letter too, and pairs of neighbours.
COLLOCATIONS = {"ngram_range": (1, 2), "sublinear_tf": True, "token_pattern": r"(?u)\b\w+\b"}


@MeanAnswerScore
def score_by_error_consistency(crowd: Crowd) -> Floats:
    """Return the negative error of each answer by error consistency (Chai et al. 2022); 0 is best.

    Chai, Sun, Wang et al. 2022, "An error consistency based approach to answer aggregation in
    open-ended crowdsourcing", Information Sciences 608: each answer has a vector of local word
    collocation and one of the sentence's meaning; the true answer is the mean weighted by the
    reciprocals of the answers' errors; the errors are to be consistent between the two spaces.

    Adapted, for the published abstract is all that could be read: collocation is TF-IDF of single
    words and pairs of neighbours, meaning the vectors of the study, both of unit length; an
    answer's error is the mean of its distances to the true answer in the two spaces (the value that
    disagrees least with both), errors and true answers are computed in turn until they rest, and a
    worker is as good as its mean error is small: the paper aggregates answers and grades no
    workers.
    """
    spaces = [x[crowd.rows] for x in _compute_spaces(crowd.corpus)]
    question = crowd.questions
    size = (crowd.corpus.n_questions, len(question))
    of_question = sparse.csr_array((np.ones(size[1]), (question, np.arange(size[1]))), size)
    votes = crowd.votes.astype(np.float64)
    error = np.ones(len(question))
    for _ in range(MOST_ITERATIONS):
        weight = votes / np.maximum(error, LEAST_ERROR)
        total = (of_question @ weight)[:, None]
        before, error = error, np.zeros(len(question))
        for x in spaces:
            sums = of_question @ (weight[:, None] * x)
            truth = divide_where_positive(sums, total)
            error += np.linalg.norm(x - truth[question], axis=1) / len(spaces)
        # nanmax: errors on questions without a voter stay NaN.
        if np.nanmax(np.abs(error - before)) < TOLERANCE:
            break
    return -error


def _compute_spaces(corpus: Corpus) -> tuple[Floats, Floats]:
    """Return the collocation vectors and the unit-length meaning vectors, one row per answer."""

    def collocations() -> Floats:
        """Return TF-IDF vectors of single words and pairs of neighbours."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        return compact_vectors(
            TfidfVectorizer(**COLLOCATIONS).fit_transform(corpus.texts), corpus.members
        )

    x = corpus.compact_vectors(corpus.embedder)
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    meaning = divide_where_positive(x, norm, 0.0)
    return corpus.compute_once("collocations", collocations), meaning
