"""Measures of semantic entropy side by side at 3, 5 and 10 replies to each question.

The plug-in entropy of few replies is too low, and at most the logarithm of their number. Each size
takes the first replies to each question that has so many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.maqa.methods.calibration import compare_aurocs, compute_discrimination
from evaluation.maqa.methods.set_scores import is_right_score
from evaluation.maqa.methods.uncertainty import (
    compute_coverage_entropy,
    compute_discrete_entropy,
    compute_kernel_entropy,
)
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.judging import JudgedReply
from evaluation.maqa.run.tables import compute_mean_score

SIZES = (3, 5, 10)
# Of right and of wrong questions: draws of very few show no spread, and the interval is too narrow.
FEWEST_OF_A_CLASS = 10
PLUG_IN, COVERAGE, KERNEL = "semantic_entropy", "semantic_entropy_coverage", "kernel_entropy"


class SampleRow(NamedTuple):
    """A row of semantic_samples.csv: one measure of a system at one number of replies.

    `mean` is the mean entropy in nats; `auroc` that of minus the entropy. `difference` is the AUROC
    less that of the plug-in entropy, on the same questions and draws; None for the plug-in entropy.
    Its interval is None below 10 right or 10 wrong questions.
    """

    system: str
    samples: int
    measure: str
    mean: float
    auroc: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    n: int
    reason: str | None

    @property
    def is_better(self) -> bool:
        """Whether the whole interval of the difference to the plug-in entropy is above 0."""
        return self.difference_low is not None and self.difference_low > 0


def build_sample_rows(
    system: str,
    replies: Sequence[Sequence[JudgedReply]],
    clusters: Sequence[Integers | None],
    kernels: Sequence[Floats | None],
    parameters: MaqaParameters,
) -> Iterator[SampleRow]:
    """Yield one system's rows of semantic_samples.csv, by number of replies and measure.

    There is none for a number of replies that no question with right answers has.
    """
    for size in SIZES:
        entropies: dict[str, list[tuple[float, int]]] = {PLUG_IN: [], COVERAGE: [], KERNEL: []}
        right: dict[int, bool] = {}
        for item, (each, labels, kernel) in enumerate(zip(replies, clusters, kernels, strict=True)):
            score = compute_mean_score(each[:size])
            if len(each) < size or labels is None or score is None:
                continue
            right[item] = is_right_score(getattr(score, parameters.label), parameters.label_above)
            # Clusters are numbered in the order of the replies, so the first ones keep theirs.
            for name, entropy in (
                (PLUG_IN, compute_discrete_entropy(labels[:size])),
                (COVERAGE, compute_coverage_entropy(labels[:size])),
                (KERNEL, None if kernel is None else compute_kernel_entropy(kernel[:size, :size])),
            ):
                if entropy is not None:
                    entropies[name].append((entropy, item))
        cases = {name: _build_cases(rows, right) for name, rows in entropies.items() if rows}
        for name, own in cases.items():
            yield _build_sample_row(system, size, name, own, cases[PLUG_IN], parameters)


Case = tuple[Floats, Booleans, Integers]


def _build_cases(rows: Sequence[tuple[float, int]], right: Mapping[int, bool]) -> Case:
    """Return minus the entropies, whether the replies are right, and the question indices."""
    entropy, items = zip(*rows, strict=True)
    return (
        -np.array(entropy, dtype=np.float64),
        np.array([right[item] for item in items], dtype=np.bool_),
        np.array(items, dtype=np.int64),
    )


def _build_sample_row(
    system: str, size: int, name: str, own: Case, plug_in: Case, parameters: MaqaParameters
) -> SampleRow:
    """Return the row of one measure, compared with the plug-in entropy."""
    draws = (parameters.bootstrap, parameters.seed)
    area, _ = compute_discrimination(*own, *draws)
    difference: Estimate = Estimate()
    if name != PLUG_IN:
        difference = compare_aurocs(own, plug_in, *draws)
        if min(own[1].sum(), (~own[1]).sum()) < FEWEST_OF_A_CLASS:
            difference = Estimate(difference.value)
    return SampleRow(
        system,
        size,
        name,
        float(-own[0].mean()),
        *(area.value, area.low, area.high),
        *(difference.value, difference.low, difference.high),
        len(own[0]),
        area.reason,
    )
