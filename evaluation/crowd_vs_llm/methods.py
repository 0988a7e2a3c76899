"""Panels of respondents (workers, models, both) and the exemplary answers of each.

Yahav et al. 2025, section 7.4, asks whether a panel of language models can replace workers. Each
panel computes exemplary answers from its own answers by AQER. Every worker and every model is then
scored against them, members by leave-one-out. Two results follow: how similar the exemplary
answers of two panels are, and whether both rank the models alike. Models learn from the same texts
and from each other, so they may agree more than workers do and be wrong together. `agreement`
measures how similar the answers of a panel are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from evaluation.consensus.methods.estimator import AQER
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.statistics.descriptive import spearman

PEOPLE, UNFLAGGED, MODELS, BOTH = "people", "unflagged_people", "models", "people_and_models"
HALVES = ("half_of_people", "other_half_of_people")
EstimatorFactory = Callable[[], AQER]


@dataclass(frozen=True)
class PanelAnswers:
    """Answers of workers and models as arrays, and the empty answers of models.

    Attributes
    ----------
    vectors : (N, d) vectors of the answers.
    respondent : (N,) codes: workers from 0 to `n_people` - 1, then models.
    question : (N,) codes below `n_questions`.
    empty_respondent, empty_question : (R,) codes of empty and refused answers. These score at most
        0 under cosine, and the lowest score of a member under Euclidean distance.
    """

    vectors: Vectors
    respondent: Integers
    question: Integers
    n_people: int
    n_models: int
    n_questions: int
    empty_respondent: Integers
    empty_question: Integers

    @property
    def is_model(self) -> Booleans:
        """Whether an answer is a model's, one value per answer with a text."""
        return np.asarray(self.respondent >= self.n_people)


@dataclass(frozen=True)
class Panel:
    """A group of respondents, its exemplary answers, and the scores of all answers against them.

    Attributes
    ----------
    name : such as `PEOPLE` or `MODELS`.
    members : (S,) whether a respondent has an answer in the panel.
    exemplars : (Q, d) exemplary answers; zeros without an answer of a member.
    n_answers : (Q,) number of members' answers.
    dispersion : (Q,) as `AQER.dispersion_`; NaN without an answer of a member.
    agreement : (Q,) mean cosine of two members' answers; NaN below 2 answers.
    nearest : (Q,) row of the member's answer nearest to the exemplary one; -1 without any.
    scores : (S, Q) scores of every respondent, leave-one-out for members; NaN without an answer of
        the respondent or without another one of the panel.
    model_share : models' share of the votes, 0 to 1; NaN without votes.
    """

    name: str
    members: Booleans
    exemplars: Vectors
    n_answers: Integers
    dispersion: Floats
    agreement: Floats
    nearest: Integers
    scores: Floats
    model_share: float

    def compute_means(self) -> Floats:
        """Return each respondent's mean score over questions; NaN without a score."""
        known = ~np.isnan(self.scores)
        # A row without a score has count 0; `maximum` only avoids the division by zero.
        count = known.sum(axis=1)
        total = np.where(known, self.scores, 0.0).sum(axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class PanelPair:
    """Comparison of two panels: cosines of exemplary answers, and order of the models.

    Attributes
    ----------
    cosines : (Q,) cosines of both panels' exemplary answers; NaN if a panel has none.
    spearman_models, kendall_models : rank correlations (rho, tau-b) of the mean scores of
        `n_models` models under both panels; None where undefined.
    swapped : number of pairs of models that the panels order differently.
    swapped_beyond_chance : number of them whose difference is significant under both panels.
    spearman_people : rank correlation of the mean scores of `n_people` workers.
    """

    first: str
    second: str
    cosines: Floats
    spearman_models: float | None
    kendall_models: float | None
    swapped: int
    swapped_beyond_chance: int
    n_models: int
    spearman_people: float | None
    n_people: int


def compute_panels(
    answers: PanelAnswers, make: EstimatorFactory, flagged: Sequence[int] = (), seed: int = 0
) -> list[Panel]:
    """Return the panels of workers, of models and of both, and two random halves of workers.

    The two halves show how similar two panels of the same sort are.

    Parameters
    ----------
    make : returns an estimator that is not fitted.
    flagged : codes of workers to leave out of a further panel, `UNFLAGGED`; none, no such panel.
    seed : seed of the draw of the halves.
    """
    people = ~answers.is_model
    is_flagged = np.isin(answers.respondent, np.asarray(flagged, dtype=np.int64))
    # `minimum` keeps codes of models inside the array; `people &` below drops their rows.
    first = _draw_half(answers.n_people, seed)[np.minimum(answers.respondent, answers.n_people - 1)]
    candidates: list[tuple[str, Booleans]] = [
        (PEOPLE, people),
        (MODELS, answers.is_model),
        (BOTH, np.ones(len(people), dtype=bool)),
    ]
    if is_flagged.any():
        candidates.append((UNFLAGGED, people & ~is_flagged))
    candidates += [(HALVES[0], people & first), (HALVES[1], people & ~first)]
    return [_fit_panel(name, answers, rows, make()) for name, rows in candidates if rows.any()]


def compare_panel_pair(first: Panel, second: Panel, n_people: int) -> PanelPair:
    """Return the comparison of two panels: exemplary answers, and order of mean scores."""
    both = (first.n_answers > 0) & (second.n_answers > 0)
    cosines = np.where(both, compute_row_cosines(first.exemplars, second.exemplars), np.nan)
    first_means, second_means = first.compute_means(), second.compute_means()
    # Ranks are compared over the respondents that both panels score.
    models = ~np.isnan(first_means[n_people:] - second_means[n_people:])
    a, b = first_means[n_people:][models], second_means[n_people:][models]
    people = ~np.isnan(first_means[:n_people] - second_means[:n_people])
    return PanelPair(
        first=first.name,
        second=second.name,
        cosines=cosines,
        spearman_models=spearman(a, b),
        kendall_models=_compute_kendall(a, b),
        swapped=_count_swapped_pairs(a, b),
        swapped_beyond_chance=_count_certain_swaps(
            first.scores[n_people:][models], second.scores[n_people:][models]
        ),
        n_models=int(models.sum()),
        spearman_people=spearman(first_means[:n_people][people], second_means[:n_people][people]),
        n_people=int(people.sum()),
    )


def compute_row_cosines(first: Vectors, second: Vectors) -> Floats:
    """Return the cosine of each row of one array with the same row of the other; 0 for zeros."""
    if sparse.issparse(first) or sparse.issparse(second):
        a, b = sparse.csr_array(first), sparse.csr_array(second)
        product = np.asarray(a.multiply(b).sum(axis=1)).ravel()
        lengths = [np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel()) for x in (a, b)]
    else:
        a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        product = np.einsum("qd,qd->q", a, b)
        lengths = [np.linalg.norm(x, axis=1) for x in (a, b)]
    length_product = lengths[0] * lengths[1]
    return np.where(
        length_product > 0, product / np.where(length_product > 0, length_product, 1.0), 0.0
    )


def compute_mean_cosines(vectors: Vectors, question: Integers, n_questions: int) -> Floats:
    """Return each question's mean cosine over pairs of its answers; NaN below 2 answers.

    With unit vectors u of m answers it is (|sum u|^2 - k) / m(m-1), where k of the vectors are not
    zero. Unlike dispersion it does not depend on the number of answers.
    """
    rows = np.arange(len(question))
    shape = (n_questions, len(question))
    by_question = sparse.csr_array((np.ones(len(question)), (question, rows)), shape=shape)
    if not isinstance(vectors, np.ndarray):
        square = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    else:
        square = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    scale = np.where(square > 0, 1 / np.sqrt(np.where(square > 0, square, 1.0)), 0.0)
    # Scaling the columns of the sparse matrix avoids a normalized copy of all vectors.
    total = (by_question * scale) @ vectors
    if sparse.issparse(total):
        whole = np.asarray(total.multiply(total).sum(axis=1)).ravel()
    else:
        whole = np.einsum("qd,qd->q", total, total)
    sizes = np.bincount(question, minlength=n_questions).astype(np.float64)
    nonzero = np.bincount(question, weights=square > 0, minlength=n_questions)
    pairs = sizes * (sizes - 1)
    return np.where(pairs > 0, (whole - nonzero) / np.where(pairs > 0, pairs, 1.0), np.nan)


def _fit_panel(name: str, answers: PanelAnswers, is_member: Booleans, aqer: AQER) -> Panel:
    """Return a panel: AQER fitted on the members' answers, and all respondents' scores."""
    rows = np.flatnonzero(is_member)
    vectors, respondent = answers.vectors[rows], answers.respondent[rows]
    question = answers.question[rows]
    aqer.fit(vectors, respondent, question)
    n, s = answers.n_questions, answers.n_people + answers.n_models
    questions = aqer.questions_.astype(np.int64)
    scores = np.full((s, n), np.nan)
    scores[respondent, question] = aqer.leave_one_out_scores_
    others = np.flatnonzero(~is_member)
    if len(others):
        scores[answers.respondent[others], answers.question[others]] = _score_nonmembers(
            aqer, answers, others
        )
    members = np.bincount(respondent, minlength=s) > 0
    _write_empty_answer_scores(
        scores, answers, members, np.isin(np.arange(n), questions), aqer.similarity
    )
    weights = aqer.weights_
    # AQER leaves the weights undefined below 3 members; their votes are equal then.
    if np.isnan(weights).any():
        weights = np.ones(len(weights))
    is_model = aqer.workers_.astype(np.int64) >= answers.n_people
    return Panel(
        name=name,
        members=members,
        exemplars=_expand_exemplars(aqer.compute_exemplars(), questions, n),
        n_answers=np.bincount(question, minlength=n),
        dispersion=_expand_numbers(aqer.dispersion_, questions, n),
        agreement=compute_mean_cosines(vectors, question, n),
        nearest=_expand_rows(rows[aqer.nearest_], questions, n),
        scores=scores,
        model_share=float(weights[is_model].sum() / weights.sum()),
    )


def _score_nonmembers(aqer: AQER, answers: PanelAnswers, rows: Integers) -> Floats:
    """Return the scores of nonmembers' answers; NaN on questions that no member answered."""
    # Several answers of one model to a question have no interval of the question contrast. Neither
    # that nor any other number of the model is used.
    with np.errstate(invalid="ignore"):
        scored = aqer.score_models(
            answers.vectors[rows],
            # One model code for all: only the scores of single answers are used.
            np.zeros(len(rows), dtype=np.int64),
            answers.question[rows],
        )
    return scored.answer_scores


def _write_empty_answer_scores(
    scores: Floats, answers: PanelAnswers, members: Booleans, known: Booleans, similarity: str
) -> None:
    """Write the scores of models' empty and refused answers into the array `scores`.

    `known` (Q,) states whether the panel has an exemplary answer. Without one the score stays NaN.
    """
    scored = known[answers.empty_question]
    respondent, question = answers.empty_respondent[scored], answers.empty_question[scored]
    member_scores = np.where(np.isnan(scores[members]), np.inf, scores[members])
    lowest = member_scores.min(axis=0, initial=np.inf)
    # Cosines can be negative: no answer must not score higher than an unrelated one.
    if similarity == "cosine":
        lowest = np.minimum(lowest, 0.0)
    scores[respondent, question] = np.where(np.isinf(lowest), np.nan, lowest)[question]


def _draw_half(n_people: int, seed: int) -> NDArray[np.bool_]:
    """Return, by worker, whether the worker is in the first of two random halves."""
    chosen = np.zeros(max(n_people, 1), dtype=bool)
    chosen[np.random.default_rng(seed).permutation(n_people)[: n_people // 2]] = True
    return chosen


def _expand_exemplars(exemplars: Vectors, questions: Integers, n: int) -> Vectors:
    """Return one exemplary answer per question of all `n`; zeros where there is none."""
    shape = (n, len(questions))
    place = sparse.csr_array(
        (np.ones(len(questions)), (questions, np.arange(len(questions)))), shape=shape
    )
    return place @ exemplars


def _expand_numbers(values: Floats, questions: Integers, n: int) -> Floats:
    """Return one number per question of all `n`; NaN where there is none."""
    out = np.full(n, np.nan)
    out[questions] = values
    return out


def _expand_rows(values: Integers, questions: Integers, n: int) -> Integers:
    """Return one row index per question of all `n`; -1 where there is none."""
    out = np.full(n, -1, dtype=np.int64)
    out[questions] = values
    return out


def _compute_kendall(a: Floats, b: Floats) -> float | None:
    """Return Kendall's tau-b; None below 2 models or if all scores of a panel are equal."""
    if len(a) < 2 or not (np.ptp(a) and np.ptp(b)):
        return None
    return float(stats.kendalltau(a, b).statistic)


def _count_swapped_pairs(a: Floats, b: Floats) -> int:
    """Return the number of model pairs that the scores `a` and `b` order differently."""
    # Each pair occurs twice in the matrix.
    signs = np.sign(a[:, None] - a) * np.sign(b[:, None] - b)
    return int(np.count_nonzero(signs < 0) // 2)


def _count_certain_swaps(a: Floats, b: Floats) -> int:
    """Return how many model pairs two panels order differently, both significantly.

    Parameters
    ----------
    a, b : (L, Q) scores under the panels. A difference is beyond chance if its closed-form 95%
        interval over the questions that both models answered does not contain 0.
    """
    return int(np.count_nonzero(_find_certain_orders(a) * _find_certain_orders(b) < 0) // 2)


def _find_certain_orders(scores: Floats) -> Floats:
    """Return a models x models matrix: 1 if significantly better, -1 if worse, else 0."""
    differences = scores[:, None, :] - scores[None, :, :]
    known = ~np.isnan(differences)
    n = known.sum(axis=2)
    safe = np.maximum(n, 2)
    mean = np.where(known, differences, 0.0).sum(axis=2) / safe
    deviations = np.where(known, differences - mean[:, :, None], 0.0)
    error = np.sqrt((deviations**2).sum(axis=2) / (safe - 1) / safe)
    is_certain = (n >= 2) & (np.abs(mean) > stats.t.ppf(0.975, safe - 1) * error)
    return np.asarray(np.where(is_certain, np.sign(mean), 0.0))
