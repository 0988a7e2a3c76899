"""Methods side by side on the same crowds: correlations with the truth, and who is better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.evidence.baselines import Crowd, Method, UnavailableError
from evaluation.evidence.tables import EvidenceRow, correlations
from evaluation.methods.cells import Floats
from evaluation.methods.inference.correlation_differences import correlation_differences

FEWEST_WORKERS = 3
BEST_BASELINE = "best_baseline"
NO_BASELINE = "no_baseline"
NOT_VERIFIED = "published_figure_not_verified"
UNDEFINED = "no_correlation"

Told = Callable[[], None]


@dataclass(frozen=True)
class Trial:
    """One repetition: a crowd, and the true value of each of its M workers (M,)."""

    crowd: Crowd
    truth: Floats


@dataclass(frozen=True)
class Scored:
    """What a method gives in all repetitions: `scores` (R, M), NaN for none; or a reason why not.

    Repetitions with fewer workers than the largest are filled up with NaN.
    """

    method: Method
    scores: Floats | None
    reason: str | None = None


def score(trials: Sequence[Trial], method: Method) -> Scored:
    """Score the workers of all trials, which have as many each."""
    try:
        return Scored(method, np.array([method.score(trial.crowd) for trial in trials]))
    except UnavailableError as error:
        return Scored(method, None, error.reason)


def compare(
    setting: str,
    trials: Sequence[Trial],
    methods: Iterable[Method],
    seed: int = 0,
    told: Told | None = None,
) -> list[EvidenceRow]:
    """Return a row for each method, with its p against the best baseline of the setting.

    p: `correlation_differences`, workers drawn with replacement, the same in all repetitions. The
    best baseline is the one of kind "baseline" with the greatest mean correlation.
    """
    found = []
    for method in methods:
        found.append(score(trials, method))
        if told is not None:
            told()
    return rows_of(setting, found, np.array([trial.truth for trial in trials]), seed)


def rows_of(
    setting: str, found: Sequence[Scored], truth: Floats, seed: int = 0
) -> list[EvidenceRow]:
    """Return the rows of what was scored; `truth` is (R, M)."""
    rows = [_row(setting, scored, truth) for scored in found]
    baselines = [
        at
        for at, (row, scored) in enumerate(zip(rows, found, strict=True))
        if scored.method.kind == "baseline" and not np.isnan(row.pearson_mean)
    ]
    if not baselines:
        return [_without_p(row, NO_BASELINE) for row in rows]
    best = max(baselines, key=lambda at: rows[at].pearson_mean)
    against = found[best].scores
    assert against is not None
    tested = {
        at: scored.scores
        for at, scored in enumerate(found)
        if at != best and scored.scores is not None
    }
    stacked = np.array(list(tested.values())).reshape(-1, *truth.shape)
    differences = correlation_differences(stacked, against, truth, seed=seed)
    for at, difference in zip(tested, differences, strict=True):
        if difference.p_value is None:
            rows[at] = _without_p(rows[at], difference.reason or UNDEFINED)
        else:
            rows[at] = replace(rows[at], p_value=difference.p_value)
    rows[best] = _without_p(rows[best], BEST_BASELINE)
    return rows


def best_baseline(rows: Sequence[EvidenceRow]) -> dict[str, str]:
    """Return the best baseline by setting."""
    return {row.setting: row.method for row in rows if row.reasons.get("p_value") == BEST_BASELINE}


def _row(setting: str, scored: Scored, truth: Floats) -> EvidenceRow:
    name = scored.method.name
    if scored.scores is None:
        return _empty(setting, name, scored.reason or UNDEFINED)
    pairs = [correlations(x, t) for x, t in zip(scored.scores, truth, strict=True)]
    pearson, spearman = np.array(pairs, dtype=np.float64).T
    n = len(pearson)
    too_few = (~np.isnan(scored.scores + truth)).sum(axis=-1) < FEWEST_WORKERS
    if too_few.any() or np.isnan(pearson).any():
        return _empty(setting, name, UNDEFINED)
    return EvidenceRow(
        setting=setting,
        method=name,
        pearson_mean=float(pearson.mean()),
        pearson_sd=float(pearson.std(ddof=1)) if n > 1 else None,
        spearman_mean=float(spearman.mean()),
        repetitions=n,
        reasons={"paper": NOT_VERIFIED},
    )


def _empty(setting: str, method: str, reason: str) -> EvidenceRow:
    row = EvidenceRow.empty(setting, method, reason)
    return replace(row, reasons={**row.reasons, "paper": NOT_VERIFIED})


def _without_p(row: EvidenceRow, reason: str) -> EvidenceRow:
    if "p_value" in row.reasons:
        return row
    return replace(row, reasons={**row.reasons, "p_value": reason})
