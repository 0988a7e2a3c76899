"""Whose consensus? Exemplary answers made by people, by models, and by both together.

Yahav et al. 2025, section 7.4, asks whether a panel of language models can stand in for workers.
Each panel makes exemplary answers by AQER out of its own answers; then every worker and every model
is scored against each of them, without its own share where it is a member. What that shows: how far
the panels' exemplary answers lie apart, and whether they rank the models alike. Models learn from
the same texts, and from each other, so that they may agree more than people do and be wrong
together: `agreement` says how much alike the answers of a panel are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from evaluation.methods.aqer.estimator import AQER
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.grams import Vectors
from evaluation.methods.statistics.correlation import spearman

PEOPLE, UNFLAGGED, MODELS, BOTH = "people", "unflagged_people", "models", "people_and_models"
HALVES = ("half_of_people", "other_half_of_people")
MakeEstimator = Callable[[], AQER]


@dataclass(frozen=True)
class Speeches:
    """N answers with a text, of people and models, and R answers of models without one.

    Attributes
    ----------
    vectors : (N, d). speaker : (N,) code, people from 0 to `n_people` - 1, then models.
    question : (N,) code, below `n_questions`.
    silent_speaker, silent_question : (R,) the same of empty and refused answers, which score 0
        under cosine and the lowest score of a member under Euclidean distance.
    """

    vectors: Vectors
    speaker: Integers
    question: Integers
    n_people: int
    n_models: int
    n_questions: int
    silent_speaker: Integers
    silent_question: Integers

    @property
    def of_models(self) -> Booleans:
        """(N,) whether a model said it."""
        return np.asarray(self.speaker >= self.n_people)


@dataclass(frozen=True)
class Panel:
    """A panel and what it makes of every answer.

    Attributes
    ----------
    name : which one. members : (S,) whether a speaker has an answer in it.
    exemplars : (Q, d), zeros where no member answered. n_answers : (Q,).
    dispersion : (Q,) see `AQER.dispersion_`; NaN where nobody answered.
    agreement : (Q,) mean cosine of two answers of members; NaN below 2 answers.
    nearest : (Q,) row of the member's answer nearest to the exemplary one; -1 without any.
    scores : (S, Q) of every speaker against the panel, leave-one-out for members; NaN where it has
        no answer, or the panel has no other one.
    model_share : share of the votes that models have; NaN without votes.
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

    def means(self) -> Floats:
        """Return (S,) mean scores; NaN for who has none."""
        known = ~np.isnan(self.scores)
        count = known.sum(axis=1)
        total = np.where(known, self.scores, 0.0).sum(axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class PanelPair:
    """How far two panels are apart.

    Attributes
    ----------
    cosines : (Q,) of their exemplary answers; NaN where one of them has none.
    spearman_models, kendall_models : rank correlation (tau-b) of the models' mean scores under
        both, over `n_models`; None where undefined. swapped : pairs of models in another order.
    spearman_people : the same of workers, over `n_people`.
    """

    first: str
    second: str
    cosines: Floats
    spearman_models: float | None
    kendall_models: float | None
    swapped: int
    n_models: int
    spearman_people: float | None
    n_people: int


def panels_of(
    speeches: Speeches, make: MakeEstimator, flagged: Sequence[int] = (), seed: int = 0
) -> list[Panel]:
    """Return the panels that have an answer: people, models, both, and people in two halves.

    Parameters
    ----------
    make : gives the estimator of a panel, not yet fitted.
    flagged : codes of workers who are left out of the panel of unflagged people, which is there
        only if there are any.
    seed : of the halves, which say how far apart two panels of one kind are.
    """
    people = ~speeches.of_models
    out = np.isin(speeches.speaker, np.asarray(flagged, dtype=np.int64))
    first = _half(speeches.n_people, seed)[np.minimum(speeches.speaker, speeches.n_people - 1)]
    wanted: list[tuple[str, Booleans]] = [
        (PEOPLE, people),
        (MODELS, speeches.of_models),
        (BOTH, np.ones(len(people), dtype=bool)),
    ]
    if out.any():
        wanted.append((UNFLAGGED, people & ~out))
    wanted += [(HALVES[0], people & first), (HALVES[1], people & ~first)]
    return [_panel(name, speeches, rows, make()) for name, rows in wanted if rows.any()]


def pair_of_panels(first: Panel, second: Panel, n_people: int) -> PanelPair:
    """Return how far two panels of the same speeches are apart."""
    both = (first.n_answers > 0) & (second.n_answers > 0)
    cosines = np.where(both, row_cosines(first.exemplars, second.exemplars), np.nan)
    one, other = first.means(), second.means()
    models = ~np.isnan(one[n_people:] - other[n_people:])
    a, b = one[n_people:][models], other[n_people:][models]
    people = ~np.isnan(one[:n_people] - other[:n_people])
    return PanelPair(
        first=first.name,
        second=second.name,
        cosines=cosines,
        spearman_models=spearman(a, b),
        kendall_models=_kendall(a, b),
        swapped=_swapped(a, b),
        n_models=int(models.sum()),
        spearman_people=spearman(one[:n_people][people], other[:n_people][people]),
        n_people=int(people.sum()),
    )


def row_cosines(one: Vectors, other: Vectors) -> Floats:
    """Return (Q,) cosines of the rows of two (Q, d) arrays; 0 where a row is zero."""
    if sparse.issparse(one) or sparse.issparse(other):
        a, b = sparse.csr_array(one), sparse.csr_array(other)
        product = np.asarray(a.multiply(b).sum(axis=1)).ravel()
        lengths = [np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel()) for x in (a, b)]
    else:
        a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        product = np.einsum("qd,qd->q", a, b)
        lengths = [np.linalg.norm(x, axis=1) for x in (a, b)]
    whole = lengths[0] * lengths[1]
    return np.where(whole > 0, product / np.where(whole > 0, whole, 1.0), 0.0)


def mean_cosines(vectors: Vectors, question: Integers, n_questions: int) -> Floats:
    """Return (Q,) mean cosine of two answers to a question; NaN below 2 answers.

    With unit vectors u of m answers: (|sum u|^2 - number of vectors that are not zero) / m(m-1).
    Other than dispersion it does not fall with the number of answers.
    """
    rows = np.arange(len(question))
    shape = (n_questions, len(question))
    by_question = sparse.csr_array((np.ones(len(question)), (question, rows)), shape=shape)
    if not isinstance(vectors, np.ndarray):
        square = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    else:
        square = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    scale = np.where(square > 0, 1 / np.sqrt(np.where(square > 0, square, 1.0)), 0.0)
    total = (by_question * scale) @ vectors
    if sparse.issparse(total):
        whole = np.asarray(total.multiply(total).sum(axis=1)).ravel()
    else:
        whole = np.einsum("qd,qd->q", total, total)
    sizes = np.bincount(question, minlength=n_questions).astype(np.float64)
    nonzero = np.bincount(question, weights=square > 0, minlength=n_questions)
    pairs = sizes * (sizes - 1)
    return np.where(pairs > 0, (whole - nonzero) / np.where(pairs > 0, pairs, 1.0), np.nan)


def _panel(name: str, speeches: Speeches, rows: Booleans, aqer: AQER) -> Panel:
    at = np.flatnonzero(rows)
    vectors, speaker, question = speeches.vectors[at], speeches.speaker[at], speeches.question[at]
    aqer.fit(vectors, speaker, question)
    n, s = speeches.n_questions, speeches.n_people + speeches.n_models
    asked = aqer.questions_.astype(np.int64)
    scores = np.full((s, n), np.nan)
    scores[speaker, question] = aqer.leave_one_out_scores_
    others = np.flatnonzero(~rows)
    if len(others):
        scores[speeches.speaker[others], speeches.question[others]] = _outside(
            aqer, speeches, others
        )
    members = np.bincount(speaker, minlength=s) > 0
    _score_silent(scores, speeches, members, np.isin(np.arange(n), asked), aqer.similarity)
    weights = aqer.weights_
    if np.isnan(weights).any():  # fewer than 3 members have equal votes
        weights = np.ones(len(weights))
    of_models = aqer.workers_.astype(np.int64) >= speeches.n_people
    return Panel(
        name=name,
        members=members,
        exemplars=_spread(aqer.exemplars(), asked, n),
        n_answers=np.bincount(question, minlength=n),
        dispersion=_spread_numbers(aqer.dispersion_, asked, n),
        agreement=mean_cosines(vectors, question, n),
        nearest=_spread_rows(at[aqer.nearest_], asked, n),
        scores=scores,
        model_share=float(weights[of_models].sum() / weights.sum()),
    )


def _outside(aqer: AQER, speeches: Speeches, rows: Integers) -> Floats:
    """Return scores of answers of who is no member; NaN where the panel has no answer."""
    found = aqer.score_models(
        speeches.vectors[rows],
        # One name for all: they are not compared with each other here.
        np.zeros(len(rows), dtype=np.int64),
        speeches.question[rows],
    )
    return found.answer_scores


def _score_silent(
    scores: Floats, speeches: Speeches, members: Booleans, known: Booleans, similarity: str
) -> None:
    """Score the answers of models without a text, in place."""
    at = known[speeches.silent_question]
    speaker, question = speeches.silent_speaker[at], speeches.silent_question[at]
    of_members = np.where(np.isnan(scores[members]), np.inf, scores[members])
    lowest = of_members.min(axis=0, initial=np.inf)
    if similarity == "cosine":
        lowest = np.minimum(lowest, 0.0)
    scores[speaker, question] = np.where(np.isinf(lowest), np.nan, lowest)[question]


def _half(n_people: int, seed: int) -> NDArray[np.bool_]:
    """Return (M,) whether a worker is of the first half, drawn at random; (1,) without people."""
    chosen = np.zeros(max(n_people, 1), dtype=bool)
    chosen[np.random.default_rng(seed).permutation(n_people)[: n_people // 2]] = True
    return chosen


def _spread(exemplars: Vectors, asked: Integers, n: int) -> Vectors:
    """Put the exemplary answers of some questions among all of them, zeros elsewhere."""
    shape = (n, len(asked))
    place = sparse.csr_array((np.ones(len(asked)), (asked, np.arange(len(asked)))), shape=shape)
    return place @ exemplars


def _spread_numbers(values: Floats, asked: Integers, n: int) -> Floats:
    out = np.full(n, np.nan)
    out[asked] = values
    return out


def _spread_rows(values: Integers, asked: Integers, n: int) -> Integers:
    out = np.full(n, -1, dtype=np.int64)
    out[asked] = values
    return out


def _kendall(a: Floats, b: Floats) -> float | None:
    """Return Kendall's tau-b; None below 2 models, or where a side has no spread."""
    if len(a) < 2 or not (np.ptp(a) and np.ptp(b)):
        return None
    return float(stats.kendalltau(a, b).statistic)


def _swapped(a: Floats, b: Floats) -> int:
    """Return how many pairs of models stand in another order."""
    signs = np.sign(a[:, None] - a) * np.sign(b[:, None] - b)
    return int(np.count_nonzero(signs < 0) // 2)
