"""Compare methods on the same crowds: correlations with the truth, and p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.inference.correlation_differences import compare_correlations
from evaluation.evidence.baselines import Crowd, Method, UnavailableError
from evaluation.evidence.tables import EvidenceRow, compute_correlations

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
    """Scores of a method, repetitions x workers, NaN for none; or the reason for having none.

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
    """Return a row for each method, with its p-value against the setting's best baseline.

    p: `correlation_differences`, workers drawn with replacement, the same in all repetitions. The
    best baseline is the one of kind "baseline" with the greatest mean correlation.
    """
    scored = []
    for method in methods:
        scored.append(score_trials(trials, method))
        if on_step is not None:
            on_step()
    return build_rows(setting, scored, np.array([trial.truth for trial in trials]), seed)


def build_rows(
    setting: str, scored_methods: Sequence[MethodScores], truth: Floats, seed: int = 0
) -> list[EvidenceRow]:
    """Return a row for each scored method; `truth` is repetitions x workers."""
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
    """Return the name of the best baseline by setting."""
    return {row.setting: row.method for row in rows if row.reasons.get("p_value") == BEST_BASELINE}


def _build_row(setting: str, scored: MethodScores, truth: Floats) -> EvidenceRow:
    """Return the table row of one method: mean correlations, or empty with a reason."""
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
    row = EvidenceRow.empty(setting, method, reason)
    return replace(row, reasons={**row.reasons, "paper": NOT_VERIFIED})


def _drop_p_value(row: EvidenceRow, reason: str) -> EvidenceRow:
    """Return the row with a reason for its missing p-value, unless it has one already."""
    if "p_value" in row.reasons:
        return row
    return replace(row, reasons={**row.reasons, "p_value": reason})
