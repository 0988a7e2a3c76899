"""The threshold of an encoder, by replies that were labelled by hand: half to tune, half to tell.

`labelled.jsonl` has a line for each reply: "reply", "first" and "second" label, and its "half".
Only replies with two equal labels count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from evaluation.flow.umwp.classifying import UNANSWERABLE
from evaluation.flow.umwp.expressions import expression_in
from evaluation.flow.umwp.likeness import Likeness
from evaluation.flow.umwp.pieces import windows
from evaluation.methods.statistics.kappa import cohen_kappa
from evaluation.methods.umwp.noticing import Taken, best_threshold, rates

TUNE, REPORT = "tune", "report"


@dataclass(frozen=True)
class Labelled:
    """A reply with two labels, "unanswerable" or "answerable"; `half` is "tune" or "report"."""

    reply: str
    first: str
    second: str
    half: str


@dataclass(frozen=True)
class Tuned:
    """A threshold, and how well it does on the half it was not found by.

    `precision`, `recall` and `f1` are None where they are undefined; `n` replies are in that half.
    """

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    n: int


RECORDED = {
    "minilm": Tuned(0.5818, 0.875, 0.8045977011494253, 0.8383233532934131, 170),
}
"""What `tuned` finds for the project's templates, so that nobody waits for it; a test compares."""


@cache
def labelled_replies() -> tuple[Labelled, ...]:
    """Return the labelled replies that come with the project."""
    lines = Path(__file__).with_name("labelled.jsonl").read_text("utf-8").splitlines()
    return tuple(Labelled(**json.loads(line)) for line in lines)


def agreement(replies: Sequence[Labelled]) -> tuple[float, float | None]:
    """Return the share of replies with two equal labels, and Cohen's kappa of the two."""
    first, second = [one.first for one in replies], [one.second for one in replies]
    same = sum(a == b for a, b in zip(first, second, strict=True)) / len(replies)
    return same, cohen_kappa(first, second)


def windows_of(replies: Sequence[Labelled]) -> list[str]:
    """Return all their windows."""
    return [window for one in replies for window in windows(one.reply)]


def tuned(replies: Sequence[Labelled], found: Likeness, threshold: float | None = None) -> Tuned:
    """Find the threshold on one half, or take the one given, and measure it on the other."""
    agreed = [one for one in replies if one.first == one.second]
    nearest = [found.nearest(windows(one.reply)) for one in agreed]
    similarity = np.array([one[0] if one else -1.0 for one in nearest])
    otherwise = np.array([expression_in(one.reply) is not None for one in agreed])
    label = np.array([one.first == UNANSWERABLE for one in agreed])
    tune = np.array([one.half == TUNE for one in agreed])
    if threshold is None:
        threshold = best_threshold(similarity[tune], otherwise[tune], label[tune])
    told = ~tune
    positive = (similarity > threshold) | otherwise
    none = np.zeros(int(told.sum()), dtype=np.bool_)
    measured = rates(Taken(label[told], positive[told], none, none), n_draws=0)
    precision, recall, f1 = (measured[name].value for name in ("precision", "recall", "f1"))
    return Tuned(threshold, precision, recall, f1, int(told.sum()))
