"""Measure how much of a ranking the length of the answers explains.

Longer answers name more of what others name, so that agreement can pay for length: on Beetle's
real students the raw score correlates .81 with log words, and length alone agrees .58 with the
share correct (platform/docs/evidence.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.consensus import AQER
from evaluation.core.messages.message import Message
from evaluation.core.stats.statistics.descriptive import pearson
from evaluation.core.text.quality import compute_log_words
from evaluation.grading.alarms.methods.survey import BY_LENGTH, FEWEST_RANKED, TOO_FEW_RANKED
from evaluation.grading.run.results import compute_leave_one_out_means
from evaluation.grading.summary import LengthEffect

NO_SPREAD = "no_spread"


def compute_length_effect(aqer: AQER, texts: Sequence[str], workers: Sequence[Any]) -> LengthEffect:
    """Return the correlation of workers' raw scores with the mean length of their answers.

    Length is the logarithm of the number of words; only ranked workers count.

    Raw scores are leave-one-out means, with `question_contrast` the contrasts.

    Parameters
    ----------
    texts, workers : (N,) the graded answers and the ids of their workers.
    """
    log_words = compute_log_words(texts)
    code = {worker: place for place, worker in enumerate(aqer.workers_.tolist())}
    codes = np.array([code[worker] for worker in workers], dtype=np.int64)
    m = len(aqer.workers_)
    length = np.bincount(codes, log_words, m) / np.maximum(np.bincount(codes, minlength=m), 1)
    scores = aqer.raw_
    if not aqer.question_contrast:
        left_out = compute_leave_one_out_means(aqer, workers)
        scores = np.array([left_out.get(worker, np.nan) for worker in aqer.workers_.tolist()])
    among = (aqer.ranks_ > 0) & ~np.isnan(scores)
    n = int(among.sum())
    if n < FEWEST_RANKED:
        return LengthEffect(None, n, TOO_FEW_RANKED)
    correlation = pearson(scores, length, among)
    return LengthEffect(correlation, n, NO_SPREAD if correlation is None else None)


def build_length_warning(finding: LengthEffect) -> Message | None:
    """Return the warning that answer length explains much of a ranking; None if it does not."""
    if finding.correlation is None or abs(finding.correlation) <= BY_LENGTH:
        return None
    values = {
        "correlation": finding.correlation,
        "share": finding.correlation**2,
        "workers": finding.n,
    }
    return Message("length_explains", values)
