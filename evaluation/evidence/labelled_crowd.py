"""Tables of methods' correlations with known values, also of identified workers.

Compare methods on the same crowds: correlations with the truth, and p-values.

Correlate methods' scores of identified workers with true values from their labelled answers.

The workers are real, not simulated. A worker's true value is the mean value of their answers: the
share of correct ones if a correct answer has the value 1 and others 0. A method's raw scores of the
workers are correlated with it. The study chooses the workers and the values of answers.

Each correlation has two intervals, for two kinds of generalization. *Over workers*: other people,
the same questions. Workers are drawn with replacement with their scores; widened percentile
interval. *Over questions*: the same people, other questions. Everything is computed again on random
halves of the questions, and the spread of the halves on the arctanh scale is the standard error of
the correlation (the delete-half jackknife: Shao and Wu 1989, "A general theory for jackknife
variance estimation", Annals of Statistics 17, section 3; it holds for ranks too). Drawing questions
with replacement would duplicate answers, which breaks methods that compare an answer with the
others.

`evaluation.evidence.graded.trust` gives other intervals over workers, on purpose: BCa, of the mean
over repetitions, as its leads over the default are tested (`compare_correlations`). Here the
interval is that of one repetition, which a user with one such crowd has, and exists for ranks
too. On Beetle's 73 students the two differ by up to .014 at the lower end; on 40% of the
answers, in 25 repetitions, BCa's is a third narrower (.16 for .25), because a mean of 25 is surer
than one. So neither can replace the other without changing published numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels
from evaluation.core.stats.inference.correlations import compare_correlations
from evaluation.core.stats.inference.intervals import (
    compute_standard_deviations,
    compute_t_interval,
    compute_widened_percentile_interval,
    draw_multiplicities,
)
from evaluation.evidence.baselines import Corpus, Crowd, Method, UnavailableError
from evaluation.evidence.tables import EvidenceRow, compute_correlations

# With 2 workers a correlation is 1 or -1.
FEWEST_WORKERS = 3
BEST_BASELINE = "best_baseline"
NO_BASELINE = "no_baseline"
NOT_VERIFIED = "published_figure_not_verified"
UNDEFINED = "no_correlation"

StepCallback = Callable[[], None]


@dataclass(frozen=True)
class Trial:
    """One repetition of a study: a crowd, and the true value of each worker."""

    crowd: Crowd
    truth: Floats


@dataclass(frozen=True)
class MethodScores:
    """Scores of a method (repetitions, workers), or the reason why there are none.

    Repetitions with fewer workers than the largest are filled up with NaN.
    """

    method: Method
    scores: Floats | None
    reason: str | None = None


def score_trials(trials: Sequence[Trial], method: Method) -> MethodScores:
    """Return the method's scores in all trials, or the reason why it is unavailable."""
    try:
        return MethodScores(method, np.array([method.score(trial.crowd) for trial in trials]))
    except UnavailableError as error:
        return MethodScores(method, None, error.reason)


def compare_methods(
    setting: str,
    trials: Sequence[Trial],
    methods: Iterable[Method],
    seed: int = 0,
    on_step: StepCallback | None = None,
) -> list[EvidenceRow]:
    """Score the trials with each method; return their rows, tested against the best baseline.

    p: `compare_correlations`, workers drawn with replacement, the same in all repetitions. The
    best baseline is the one of kind "baseline" with the greatest mean correlation.
    """
    scored = []
    for method in methods:
        scored.append(score_trials(trials, method))
        if on_step is not None:
            on_step()
    return build_evidence_rows(setting, scored, np.array([trial.truth for trial in trials]), seed)


def build_evidence_rows(
    setting: str, scored_methods: Sequence[MethodScores], truth: Floats, seed: int = 0
) -> list[EvidenceRow]:
    """Return each scored method's row, tested against the best baseline.

    `truth` has shape (repetitions, workers).
    """
    rows = [_build_row(setting, scored, truth) for scored in scored_methods]
    baselines = [
        index
        for index, (row, scored) in enumerate(zip(rows, scored_methods, strict=True))
        if scored.method.kind == "baseline" and not np.isnan(row.pearson_mean)
    ]
    if not baselines:
        return [_drop_p_value(row, NO_BASELINE) for row in rows]
    best = max(baselines, key=lambda index: rows[index].pearson_mean)
    baseline_scores = scored_methods[best].scores
    assert baseline_scores is not None
    tested = {
        index: scored.scores
        for index, scored in enumerate(scored_methods)
        if index != best and scored.scores is not None
    }
    stacked = np.array(list(tested.values())).reshape(-1, *truth.shape)
    differences = compare_correlations(stacked, baseline_scores, truth, seed=seed)
    for index, difference in zip(tested, differences, strict=True):
        if difference.p_value is None:
            rows[index] = _drop_p_value(rows[index], difference.reason or UNDEFINED)
        else:
            rows[index] = replace(rows[index], p_value=difference.p_value)
    rows[best] = _drop_p_value(rows[best], BEST_BASELINE)
    return rows


def find_best_baselines(rows: Sequence[EvidenceRow]) -> dict[str, str]:
    """Return the method that is the best baseline in each setting, by setting."""
    return {row.setting: row.method for row in rows if row.reasons.get("p_value") == BEST_BASELINE}


def _build_row(setting: str, scored: MethodScores, truth: Floats) -> EvidenceRow:
    """Return one method's row: mean correlations with the truth, or empty with a reason."""
    name = scored.method.name
    if scored.scores is None:
        return _build_empty_row(setting, name, scored.reason or UNDEFINED)
    pairs = [compute_correlations(x, t) for x, t in zip(scored.scores, truth, strict=True)]
    pearson, spearman = np.array(pairs, dtype=np.float64).T
    n = len(pearson)
    too_few = (~np.isnan(scored.scores + truth)).sum(axis=-1) < FEWEST_WORKERS
    if too_few.any() or np.isnan(pearson).any():
        return _build_empty_row(setting, name, UNDEFINED)
    return EvidenceRow(
        setting=setting,
        method=name,
        pearson_mean=float(pearson.mean()),
        pearson_sd=float(pearson.std(ddof=1)) if n > 1 else None,
        spearman_mean=float(spearman.mean()),
        repetitions=n,
        reasons={"paper": NOT_VERIFIED},
    )


def _build_empty_row(setting: str, method: str, reason: str) -> EvidenceRow:
    """Return an empty table row with the reason for its missing correlations."""
    row = EvidenceRow.build_empty(setting, method, reason)
    return replace(row, reasons={**row.reasons, "paper": NOT_VERIFIED})


def _drop_p_value(row: EvidenceRow, reason: str) -> EvidenceRow:
    """Return the row with `reason` for its missing p-value, unless it already has a reason."""
    if "p_value" in row.reasons:
        return row
    return replace(row, reasons={**row.reasons, "p_value": reason})


DRAWS = 400
HALVES = 50

FEWER_WORKERS = "fewer_than_3_workers"
EQUAL_VALUES = "equal_true_values"

AGREEMENT_HEADER = (
    "setting",
    "method",
    "pearson",
    "pearson_low_workers",
    "pearson_high_workers",
    "pearson_low_questions",
    "pearson_high_questions",
    "spearman",
    "spearman_low_workers",
    "spearman_high_workers",
    "spearman_low_questions",
    "spearman_high_questions",
    "workers",
    "questions",
    "answers",
    "repetitions",
)


@dataclass(frozen=True)
class LabelledCrowd:
    """Answers of identified workers, each with its true value.

    Attributes
    ----------
    corpus : the N answers, at most one of a worker to a question.
    workers : (N,) label of each answer's worker.
    values : (N,) true value of each answer, 0 to 1; NaN if unknown: such an answer is scored, but
        left out of its worker's true value.
    """

    corpus: Corpus
    workers: ArrayLike
    values: Floats

    @cached_property
    def codes(self) -> Integers:
        """Worker code of each answer, from 0."""
        return encode_labels(self.workers)[0]

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return int(self.codes.max()) + 1

    def build_trial(self, keep: Booleans | None = None, seed: int = 0) -> Trial:
        """Return the trial of all answers, or of those flagged in `keep`."""
        rows = np.arange(len(self.codes)) if keep is None else np.flatnonzero(keep)
        # Written out, so that a worker without an answer in this part keeps their code.
        everybody = np.ones(self.n_workers, dtype=bool)
        crowd = Crowd(self.corpus, rows, self.codes[rows], everybody, seed)
        return self.add_true_values(crowd)

    def add_true_values(self, crowd: Crowd) -> Trial:
        """Return the trial of a crowd of these answers: with true values, NaN where unknown."""
        return Trial(crowd, crowd.compute_worker_means(self.values[crowd.rows]))

    def draw_partial_trials(self, share: float, seeds: Sequence[int]) -> list[Trial]:
        """Return one trial per seed, each on a random share of the answers.

        Answers are drawn one by one without replacement, regardless of worker and question.
        """
        n = len(self.codes)
        trials = []
        for seed in seeds:
            keep = np.zeros(n, dtype=bool)
            keep[np.random.default_rng(seed).permutation(n)[: max(1, round(share * n))]] = True
            trials.append(self.build_trial(keep, seed))
        return trials


@dataclass(frozen=True)
class MethodAgreement:
    """Correlations of a method with the true values, with intervals over workers and questions.

    Attributes
    ----------
    row : means over the repetitions, and p-value against the best baseline.
    workers, questions : interval (low, high) over workers and over questions, by the name of the
        correlation ("pearson", "spearman"), for a single repetition; NaN if undefined.
    n_workers, n_questions, n_answers : numbers in the first repetition.
    """

    row: EvidenceRow
    workers: Mapping[str, tuple[float, float]]
    questions: Mapping[str, tuple[float, float]]
    n_workers: int
    n_questions: int
    n_answers: int

    def list_cells(self) -> tuple[object, ...]:
        """Return the table row in the order of `AGREEMENT_HEADER`; None for an empty cell."""
        found: list[object] = [self.row.setting, self.row.method]
        for name, value in (
            ("pearson", self.row.pearson_mean),
            ("spearman", self.row.spearman_mean),
        ):
            ends = (*self.workers[name], *self.questions[name])
            found += [None if np.isnan(number) else number for number in (value, *ends)]
        return (*found, self.n_workers, self.n_questions, self.n_answers, self.row.repetitions)


def compute_agreements(
    setting: str,
    labelled: LabelledCrowd,
    trials: Sequence[Trial],
    methods: Sequence[Method],
    seed: int = 0,
    on_step: StepCallback | None = None,
) -> list[MethodAgreement]:
    """Return each method's agreement with the true values.

    Parameters
    ----------
    trials : of the crowd, or of parts of it (`LabelledCrowd.build_trial`, `draw_partial_trials`).
    seed : of the draws. on_step : called after each method.

    A correlation is undefined, and its row empty with the reason, with fewer than 3 workers, or
    where all have the same true value or the same score.
    """
    truth = np.array([trial.truth for trial in trials])
    scored, halves = [], []
    for method in methods:
        scored.append(score_trials(trials, method))
        halves.append(_correlate_halves(labelled, trials, scored[-1], seed))
        if on_step is not None:
            on_step()
    rows = build_evidence_rows(setting, scored, truth, seed)
    reason = _find_undefined_reason(truth)
    return [
        _compute_agreement(row, scores, of_halves, trials, truth, seed, reason)
        for row, scores, of_halves in zip(rows, scored, halves, strict=True)
    ]


def _compute_agreement(
    row: EvidenceRow,
    scored: MethodScores,
    halves: Floats,
    trials: Sequence[Trial],
    truth: Floats,
    seed: int,
    reason: str | None,
) -> MethodAgreement:
    """Return the agreement of one method, with intervals over workers and over questions."""
    crowd = trials[0].crowd
    n = len(np.unique(crowd.questions))
    names = ("pearson", "spearman")
    no_ends = dict.fromkeys(names, (np.nan, np.nan))
    if np.isnan(row.pearson_mean) or scored.scores is None:
        why_empty = scored.reason or reason
        if why_empty is not None:
            row = EvidenceRow.build_empty(row.setting, row.method, why_empty)
        worker_ends = question_ends = no_ends
    else:
        drawn = _bootstrap_workers(scored.scores, truth, seed)
        interval = compute_widened_percentile_interval(drawn, truth.shape[1])
        worker_ends = {name: (interval.low[k], interval.high[k]) for k, name in enumerate(names)}
        question_interval = compute_t_interval(
            # Rounding may exceed 1, where arctanh is undefined.
            np.clip([row.pearson_mean, row.spearman_mean], -1.0, 1.0),
            _compute_half_errors(halves, n),
            n,
            scale="arctanh",
        )
        question_ends = {
            name: (question_interval.low[k], question_interval.high[k])
            for k, name in enumerate(names)
        }
    n_workers = len(np.unique(crowd.workers))
    return MethodAgreement(row, worker_ends, question_ends, n_workers, n, len(crowd.rows))


def _bootstrap_workers(scores: Floats, truth: Floats, seed: int) -> Floats:
    """Return both correlations (2, draws) of workers drawn with replacement.

    Draw b takes the workers of repetition b, from the first again after the last.
    """
    m = truth.shape[1]
    correlations_drawn: list[tuple[float, float]] = []
    for block in draw_multiplicities(m, DRAWS, seed):
        for times in block.astype(np.int64):
            rows = np.repeat(np.arange(m), times)
            repetition = len(correlations_drawn) % len(truth)
            correlations_drawn.append(
                compute_correlations(scores[repetition, rows], truth[repetition, rows])
            )
    return np.array(correlations_drawn).T


def _correlate_halves(
    labelled: LabelledCrowd, trials: Sequence[Trial], scored: MethodScores, seed: int
) -> Floats:
    """Return both correlations (2, draws) on random halves of the questions; NaN if undefined.

    Half b is one of repetition b, from the first again after the last.
    """
    halves = np.full((2, HALVES), np.nan)
    if scored.scores is None or _find_undefined_reason(np.array([trial.truth for trial in trials])):
        return halves
    # A stream of its own, independent of the crowds' seeds.
    rng = np.random.default_rng([seed, 2])
    for b in range(HALVES):
        crowd = trials[b % len(trials)].crowd
        asked = np.unique(crowd.questions)
        sampled = rng.permutation(asked)[: len(asked) // 2]
        keep = np.isin(crowd.questions, sampled)
        if not keep.any():
            continue
        half = labelled.add_true_values(crowd.select_answers(keep))
        # A half may have too few questions or answers for a method that the whole allows.
        with suppress(UnavailableError):
            halves[:, b] = compute_correlations(scored.method.score(half.crowd), half.truth)
    return halves


def _compute_half_errors(halves: Floats, n_questions: int) -> Floats:
    """Return the standard errors (2,) of both correlations, on the arctanh scale, from halves."""
    # A half in which two columns are the same to rounding would be infinite.
    inside = np.clip(halves, -1 + 1e-9, 1 - 1e-9)
    n_half = n_questions // 2
    # The delete-half jackknife scales the spread of the halves by the ratio of questions in a half
    # to those left out: about 1.
    return compute_standard_deviations(np.arctanh(inside)) * np.sqrt(
        n_half / max(1, n_questions - n_half)
    )


def _find_undefined_reason(truth: Floats) -> str | None:
    """Return the reason code if no method can be correlated with the true values, else None."""
    for one in truth:
        known = one[~np.isnan(one)]
        if len(known) < FEWEST_WORKERS:
            return FEWER_WORKERS
        if not np.ptp(known):
            return EQUAL_VALUES
    return None
