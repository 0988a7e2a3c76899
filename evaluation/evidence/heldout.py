"""Choose a method on one half of the questions and report it on the other half.

Of many methods the best one looks better than it is on the data that it was chosen by. So the
questions are split at random (by the study's seed), the unsupervised method with the greatest mean
correlation over the settings of the first half is chosen, and the rows of the other half say what
it is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.core.stats.cells import Booleans
from evaluation.evidence.baselines import Method
from evaluation.evidence.tables import EvidenceRow, write_table

# Kinds of methods that nobody could use, or should: what knows the key, and what reads no answer.
NOT_CHOSEN = frozenset({"control", "supervised"})
HEADER = ("method", "setting", "pearson_mean", "mean_of_settings", "chosen")


@dataclass(frozen=True)
class MethodChoice:
    """The method chosen on one half of the questions, and the means it was chosen by.

    Attributes
    ----------
    method : the chosen one; None if none could be computed.
    rows : those of the half that was chosen by. means : mean correlation by method.
    questions : labels of that half. seed : of the split.
    """

    method: str | None
    rows: Sequence[EvidenceRow]
    means: dict[str, float]
    questions: Sequence[object]
    seed: int

    def describe(self) -> dict[str, object]:
        """Return the entries about the choice for summary.json."""
        return {
            "chosen": self.method,
            "chosen_by": "greatest mean over settings, on the questions listed",
            "questions": [str(label) for label in self.questions],
            "seed": self.seed,
        }


def draw_choosing_half(n_questions: int, seed: int) -> Booleans:
    """Return flags of a random half of the questions, rounded down."""
    half = np.zeros(n_questions, dtype=bool)
    half[np.random.default_rng(seed).permutation(n_questions)[: n_questions // 2]] = True
    return half


def choose_method(
    rows: Sequence[EvidenceRow], methods: Sequence[Method], questions: Sequence[object], seed: int
) -> MethodChoice:
    """Return the unsupervised method of greatest mean correlation; the first of ties."""
    means: dict[str, float] = {}
    for method in methods:
        found = [row.pearson_mean for row in rows if row.method == method.name]
        if method.kind not in NOT_CHOSEN and found and not np.isnan(found).any():
            means[method.name] = float(np.mean(found))
    best = max(means, key=means.__getitem__) if means else None
    return MethodChoice(best, rows, means, questions, seed)


def write_choice(folder: OutputFolder, choice: MethodChoice) -> None:
    """Write choosing.csv and choosing.md: all candidates on the half used for choosing."""
    cells = [
        (
            row.method,
            row.setting,
            row.pearson_mean,
            choice.means[row.method],
            "yes" if row.method == choice.method else "no",
        )
        for row in choice.rows
        if row.method in choice.means
    ]
    write_table(folder, "choosing", HEADER, cells)
