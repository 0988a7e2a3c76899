"""Statistics of MultiQ&A: how robust a model is when questions are reworded (Cho, Watson 2025).

Each of n items is asked in R wordings; the first wording is the original. `panel` holds the replies
as arrays, counts their votes and computes the metrics of each item. `robustness` computes the
metrics of a group of items, with intervals and chance levels. `clusters` groups free texts of the
same meaning.
"""

from evaluation.multiqa.methods.clusters import cluster, find_best_members, find_representatives
from evaluation.multiqa.methods.panel import Panel
from evaluation.multiqa.methods.robustness import (
    METRIC_NAMES,
    Chance,
    Robustness,
    compute_chance,
    robustness,
)

__all__ = [
    "METRIC_NAMES",
    "Chance",
    "Panel",
    "Robustness",
    "cluster",
    "compute_chance",
    "find_best_members",
    "find_representatives",
    "robustness",
]
