"""Statistical checks of a graded run: ranking, likeness to models, and all together.

Checks of a ranking's stability: without a worker, other starts, bootstrap, other grader. Find
workers whose answers are nearer to a language model's than to any other worker's. Run all
statistical checks of a graded run, computed once from the answers' cosines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, stats

from evaluation.consensus.methods.estimator import AQER
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.alarms.methods.camps import Camps, find_camps
from evaluation.grading.alarms.methods.copies import UnexplainedSimilarity, find_copiers
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import QuestionCamps, find_question_camps

# Spearman correlations below these ring. Honest crowds went down to .82 for leverage and to .15
# for two graders (development seeds, platform/docs/alarms.md).
LEVERAGE = 0.75
STABLE = 0.8
DISAGREEMENT = 0.1
# Two starts that agree less than this leave the ranking open.
OPEN = 0.5
# The effective number of voters below this share of the workers is told.
CONCENTRATION = 1 / 3
# Of more workers than this, those are tried who have so many times the mean voting weight: the
# ranking cannot hang on any other.
ALL_TRIED = 60
OUTWEIGHS = 3.0
MOST_TRIED = 20
# A single exchange of places means much among fewer.
FEWEST_RANKED = 8
# Correlation of raw scores with length above which a ranking is mostly one by length: r of .71 is
# half the variance.
BY_LENGTH = 0.7
TOO_FEW_RANKED = "too_few_ranked_workers"
# Raw scores that are the same to so many digits are tied: they have no order to lose.
DIGITS = 9
# Numbers in a working array.
AT_ONCE = 4_000_000


@dataclass(frozen=True)
class RankingStatistic:
    """A statistic on a ranking with its threshold; below it the alarm is raised.

    Attributes
    ----------
    statistic : None, with a `reason`, if undefined.
    worker : code of the worker whose removal gives the statistic; None for other statistics.
    """

    statistic: float | None
    threshold: float
    reason: str | None = None
    worker: int | None = None

    @property
    def is_raised(self) -> bool:
        """Whether the alarm is raised: the statistic is below the threshold."""
        return self.statistic is not None and self.statistic < self.threshold


def compute_leverage(aqer: AQER) -> RankingStatistic:
    """Return the lowest rank correlation of a ranking with the ranking without one worker.

    Computed over ranked workers, with the run's rules and starting weights. In a crowd of more than
    60 workers, only the 20 with the greatest voting weights are tried, if they have three times the
    mean weight or more.
    """
    ranked = aqer.supported_ & ~np.isnan(aqer.raw_)
    m = len(aqer.workers_)
    if aqer.converged_ is None or np.count_nonzero(ranked) <= FEWEST_RANKED:
        return RankingStatistic(None, LEVERAGE, TOO_FEW_RANKED)
    if len(np.unique(aqer.raw_[ranked].round(DIGITS))) < FEWEST_RANKED:
        return RankingStatistic(None, LEVERAGE, "no_spread")
    tried = np.arange(m)
    if m > ALL_TRIED:
        weights = np.nan_to_num(aqer.weights_)
        heaviest = np.argsort(-weights, kind="stable")[:MOST_TRIED]
        tried = heaviest[weights[heaviest] >= OUTWEIGHS / m]
        if not len(tried):
            return RankingStatistic(None, LEVERAGE, "nobody_outweighs_others")
    least, worker = np.inf, None
    electorate_start = aqer.fitted_.crowd.rules.electorate.start
    step = max(1, AT_ONCE // len(aqer.mean_vote_.cells))
    for begin in range(0, len(tried), step):
        left_out = tried[begin : begin + step]
        # One column for each worker left out: multiplicity 0 for that worker, 1 for the others.
        copies = np.ones((m, len(left_out)))
        copies[left_out, np.arange(len(left_out))] = 0.0
        start = copies if electorate_start is None else copies * electorate_start[:, None]
        raw = aqer.compute_restarted_raw(start / start.sum(axis=0), copies)
        for code, column in zip(left_out.tolist(), raw.T, strict=True):
            # The worker who is left out still has a score, from the vote of the others: it says
            # nothing of how steady their order is.
            others = ranked.copy()
            others[code] = False
            correlation = spearman(aqer.raw_, column, others)
            if correlation is not None and correlation < least:
                least, worker = correlation, code
    if worker is None:
        return RankingStatistic(None, LEVERAGE, "no_spread")
    return RankingStatistic(float(least), LEVERAGE, worker=worker)


def compute_start_agreement(aqer: AQER, camps: tuple[Integers, ...]) -> RankingStatistic:
    """Return the rank correlation of two gradings that start from either camp of workers.

    Below .5 the answers alone do not show who is right.
    """
    start = np.zeros((len(aqer.workers_), len(camps)))
    for index, camp in enumerate(camps):
        # Both starts side by side: one column of weights each, in one pass.
        start[camp, index] = 1.0 / len(camp)
    raw = aqer.compute_restarted_raw(start)
    correlation = spearman(raw[:, 0], raw[:, 1])
    return RankingStatistic(correlation, OPEN, None if correlation is not None else "no_spread")


def compute_stability(agreement: ArrayLike) -> RankingStatistic:
    """Return the median rank correlation of the bootstrap draws with the run.

    `agreement` is `AQER.draw_agreement_`, (n_draws,), NaN where a draw has none.
    """
    known = np.asarray(agreement, dtype=float)
    known = known[~np.isnan(known)]
    if not len(known):
        return RankingStatistic(None, STABLE, "no_draws")
    return RankingStatistic(float(np.median(known)), STABLE)


def compute_method_agreement(raw: Floats, other: Floats, among: Booleans) -> RankingStatistic:
    """Return the rank correlation of raw scores by two grading methods.

    All three are (M,); only the workers marked in `among` are compared.
    """
    is_compared = among & ~np.isnan(raw) & ~np.isnan(other)
    if np.count_nonzero(is_compared) < FEWEST_RANKED:
        return RankingStatistic(None, DISAGREEMENT, TOO_FEW_RANKED)
    correlation = spearman(raw, other, is_compared)
    return RankingStatistic(
        correlation, DISAGREEMENT, None if correlation is not None else "no_spread"
    )


def compute_concentration(weights: Floats) -> RankingStatistic:
    """Return the effective share of voters, 0 to 1; low if few workers have most of the weight.

    It is 1 / (M sum of squared weights) for M workers. `weights` is (M,), NaN where no worker is
    graded.
    """
    if not len(weights) or np.isnan(weights).all():
        return RankingStatistic(None, CONCENTRATION, "no_weights")
    squares = float(np.nansum(weights**2))
    return RankingStatistic(1.0 / squares / len(weights), CONCENTRATION)


FEWEST_SHARED = 5
# A worker is told if it is nearer to the model than to the nearest worker by so many standard
# errors, as a normal quantile, ...
THRESHOLD = 3.0
# ... and if more than this share of the gap between the model and the crowd is closed: otherwise a
# model that answers as well as the best would make model-like whoever answers well.
CLOSED = 0.3
MODEL_LIKENESS_AT_ONCE = 20_000


@dataclass(frozen=True)
class ModelSimilarity:
    """Result of the test which workers' answers resemble one language model's.

    Attributes
    ----------
    model : its label.
    statistic : (M,) z of a worker's mean cosine to the model above that to the nearest worker, by a
        paired t test over questions; NaN where fewer than 5 questions are shared, where the
        nearest worker is nearer than the model, or where `closed` is too small to matter.
    closed : (M,) share of the gap from the crowd's mean cosine with the model to 1 that the worker
        closes; NaN where undefined.
    workers : codes of those above both thresholds.
    n_tested : workers who share enough questions with the model and with another worker.
    """

    model: object
    statistic: Floats
    closed: Floats
    workers: Integers
    threshold: float = THRESHOLD
    n_tested: int = 0


def compute_model_cosines(
    cells: Cells, vectors: Vectors, questions: Integers, model_vectors: Vectors
) -> Floats:
    """Return the cosine of each worker's answer with the model's answer to the same question.

    Shape (N,). Cells in cell order; NaN where the model has none; 0 where a vector is zero.

    Parameters
    ----------
    vectors : (rows, d) of the workers' answers. model_vectors : (R, d), one answer a question.
    questions : (R,) question codes of the model's answers, each at most once.
    """
    place = np.full(cells.n_questions, -1)
    place[questions] = np.arange(len(questions))
    cells_with_model = np.flatnonzero(place[cells.question] >= 0)
    cosines = np.full(len(cells), np.nan)
    for begin in range(0, len(cells_with_model), MODEL_LIKENESS_AT_ONCE):
        part = cells_with_model[begin : begin + MODEL_LIKENESS_AT_ONCE]
        x = _normalise_rows(vectors[cells.row[part]])
        y = _normalise_rows(model_vectors[place[cells.question[part]]])
        cosines[part] = np.clip(_compute_inner_products(x, y), -1.0, 1.0)
    return cosines


def find_workers_similar_to_model(
    model: object, pairs: Pairs, cells: Cells, to_model: Floats
) -> ModelSimilarity:
    """Return the result of testing which workers' answers resemble a language model's.

    `model` is the model's label; `to_model` (N,) is the result of `compute_model_cosines`.
    """
    known = ~np.isnan(to_model)
    n = cells.sum_by_worker(known.astype(np.float64))
    known_cosines = np.where(known, to_model, 0.0)
    mean = divide_where_positive(cells.sum_by_worker(known_cosines), n)
    closed = _compute_gap_closed(cells, known, known_cosines, n)
    nearest = _find_nearest_pair(pairs)
    statistic = np.full(cells.n_workers, np.nan)
    is_tested = (n >= FEWEST_SHARED) & (nearest >= 0)
    is_near = is_tested & (np.nan_to_num(closed) > CLOSED)
    for worker in np.flatnonzero(is_near).tolist():
        pair = int(nearest[worker])
        # The nearest worker is the best of many, and chance is in that maximum: the test errs on
        # the side of silence.
        if mean[worker] > pairs.total[pair] / pairs.shared[pair]:
            statistic[worker] = _compute_paired_z(pairs, cells, to_model, worker, pair)
    model_like = np.flatnonzero(np.nan_to_num(statistic) > THRESHOLD)
    n_tested = int(np.count_nonzero(is_tested))
    return ModelSimilarity(model, statistic, closed, model_like, n_tested=n_tested)


def _compute_gap_closed(cells: Cells, known: np.ndarray, value: Floats, n: Floats) -> Floats:
    """Return how far each worker's cosine to the model closes the others' gap to 1, as a share.

    The gap is that from the others' mean cosine to 1; shape (M,).
    """
    is_known = known.astype(np.float64)
    count = cells.spread_to_answers(cells.sum_by_question(is_known[:, None]))[:, 0] - is_known
    total = cells.spread_to_answers(cells.sum_by_question(value[:, None]))[:, 0] - value
    others_mean = divide_where_positive(total, count, 0.0)
    counts = is_known * (count > 0)
    above = cells.sum_by_worker(counts * (value - others_mean))
    gap = cells.sum_by_worker(counts * (1.0 - others_mean))
    return np.divide(above, gap, out=np.full(len(n), np.nan), where=gap > 1e-9)


def _find_nearest_pair(pairs: Pairs) -> Integers:
    """Return the index of each worker's pair with the highest mean cosine; -1 if none.

    Shape (M,).
    """
    comparable = np.flatnonzero(pairs.shared >= FEWEST_SHARED)
    order = comparable[
        np.argsort(pairs.total[comparable] / pairs.shared[comparable], kind="stable")
    ]
    nearest = np.full(pairs.n_workers, -1)
    both = np.stack([pairs.left[order], pairs.right[order]], axis=1).ravel()
    # The last one written wins: the highest.
    nearest[both] = np.repeat(order, 2)
    return nearest


def _compute_paired_z(
    pairs: Pairs, cells: Cells, to_model: Floats, worker: int, pair: int
) -> float:
    """Return z of the paired test: a worker's cosines to the model minus those to a worker."""
    answer_pairs = np.flatnonzero(pairs.pair == pair)
    own_cells = np.flatnonzero(cells.worker == worker)
    to_worker = np.full(pairs.n_questions, np.nan)
    to_worker[pairs.question[answer_pairs]] = pairs.cosine[answer_pairs]
    difference = to_model[own_cells] - to_worker[cells.question[own_cells]]
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if n < FEWEST_SHARED:
        return float("nan")
    # Equal differences have no spread; the floor keeps z finite.
    error = max(float(difference.std(ddof=1)) / np.sqrt(n), 1e-9)
    tail = max(float(stats.t.sf(difference.mean() / error, n - 1)), 1e-300)
    return float(stats.norm.isf(tail))


def _normalise_rows(x: Vectors) -> Vectors:
    """Return the vectors (n, d), dense or sparse, scaled to length 1; zero rows stay zero."""
    if not sparse.issparse(x):
        x = convert_to_dense(x)
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        return divide_where_positive(x, norm, 0.0)
    x = sparse.csr_array(x)  # of a matrix, * would be the product of matrices
    norm = np.sqrt((x * x).sum(axis=1))
    return sparse.csr_array(
        sparse.diags_array(np.where(norm > 0, 1 / np.where(norm > 0, norm, 1), 0)) @ x
    )


def _compute_inner_products(x: Vectors, y: Vectors) -> Floats:
    """Return the inner product (n,) of each row of x with the same row of y."""
    if sparse.issparse(x) or sparse.issparse(y):
        return np.asarray((sparse.csr_array(x) * sparse.csr_array(y)).sum(axis=1))
    return np.einsum("nd,nd->n", x, y)


NO_OTHER_GRADER = "no_other_grader"


@dataclass(frozen=True)
class ModelAnswerVectors:
    """Vectors of one language model's answers, with the question code of each answer.

    `vectors` is (R, d), `questions` (R,) with each code at most once.
    """

    label: object
    vectors: Vectors
    questions: Integers


@dataclass(frozen=True)
class RunChecks:
    """Results of all statistical checks of one run.

    Attributes
    ----------
    pairs : pairs of the workers who are tested for camps and copies.
    kinship : similarity of workers beyond their quality, and groups of copiers.
    starts : rank correlation of the gradings started from either camp; None without two camps.
    disagreement : rank correlation with the raw scores of another grading method.
    heaviest : codes of the workers who have half of the voting weight, the heaviest first.
    unsupported : codes of the workers with too few answers for a rank.
    converged, n_iterations, last_step, tolerance : of the run; converged is None if it had too few
        workers, last_step is the change that was compared with `tolerance`.
    """

    pairs: Pairs
    camps: Camps
    kinship: UnexplainedSimilarity
    questions: QuestionCamps
    starts: RankingStatistic | None
    leverage: RankingStatistic
    stability: RankingStatistic
    concentration: RankingStatistic
    disagreement: RankingStatistic
    models: tuple[ModelSimilarity, ...]
    heaviest: Integers
    unsupported: Integers
    n_workers: int
    converged: bool | None
    n_iterations: int
    last_step: float | None
    tolerance: float


def compute_run_checks(
    aqer: AQER,
    other_raw: Floats | None = None,
    models: Iterable[ModelAnswerVectors] = (),
    vectors: Vectors | None = None,
    other_reason: str = NO_OTHER_GRADER,
    ranked: AQER | None = None,
    left_out: Booleans | None = None,
) -> RunChecks:
    """Return the results of all statistical checks for alarms in a graded run.

    Parameters
    ----------
    other_raw : (M,) raw scores of the same workers by another grader; `other_reason` states why
        there are none.
    ranked : the final grading, if it is not `aqer`; the stability is that of its bootstrap draws.
    left_out : (M,) whether a worker is left out of the tests for camps and copies.
    models : answers of language models, in the space of `vectors` (N, d), those of the workers.
    """
    vote = aqer.mean_vote_
    all_pairs = Pairs.from_vote(vote, aqer.seed)
    pairs, tested = all_pairs, None
    if left_out is not None and left_out.any():
        tested = ~left_out
        pairs = all_pairs.select_workers(tested)
    crowd_camps = find_camps(pairs, aqer.seed)
    disagreement = RankingStatistic(None, DISAGREEMENT, other_reason)
    if other_raw is not None:
        disagreement = compute_method_agreement(aqer.raw_, other_raw, aqer.supported_)
    likeness = []
    if vectors is not None:
        for model in models:
            to_model = compute_model_cosines(vote.cells, vectors, model.questions, model.vectors)
            likeness.append(
                find_workers_similar_to_model(model.label, all_pairs, vote.cells, to_model)
            )
    m = len(aqer.workers_)
    # The change of weights shrinks like 1/M; the relative rule multiplies it by M before comparing.
    scale = m if aqer.stopping == "relative" else 1
    return RunChecks(
        pairs=pairs,
        camps=crowd_camps,
        kinship=find_copiers(pairs),
        questions=find_question_camps(vote, aqer.seed, tested),
        starts=compute_start_agreement(aqer, crowd_camps.members)
        if crowd_camps.is_raised
        else None,
        leverage=compute_leverage(aqer),
        stability=compute_stability((ranked or aqer).draw_agreement_),
        concentration=compute_concentration(aqer.weights_),
        disagreement=disagreement,
        models=tuple(likeness),
        heaviest=_find_heaviest(aqer.weights_),
        unsupported=np.flatnonzero(~aqer.supported_),
        n_workers=m,
        converged=aqer.converged_,
        n_iterations=aqer.n_iter_,
        last_step=scale * aqer.trace_[-1] if aqer.trace_ else None,
        tolerance=aqer.tolerance,
    )


def _find_heaviest(weights: Floats) -> Integers:
    """Return the codes of the fewest workers who together have half of the voting weight."""
    order = np.argsort(-np.nan_to_num(weights), kind="stable")
    total = np.cumsum(np.nan_to_num(weights)[order])
    if not len(total) or total[-1] <= 0:
        return np.zeros(0, dtype=np.int64)
    return order[: int(np.searchsorted(total, total[-1] / 2)) + 1]
