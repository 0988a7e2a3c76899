"""Statistics of MultiQ&A: how robust a model is when questions are reworded (Cho, Watson 2025).

Each of n items is asked in R wordings; the first wording is the original. `panel` holds the replies
as arrays, counts their votes, computes the metrics of each item, and groups free texts of the same
meaning. `robustness` computes the metrics of a group of items, with intervals and chance levels.
"""

from evaluation.multiqa.methods.panel import (
    Panel,
    cluster_answers,
    find_best_members,
    find_representatives,
)
from evaluation.multiqa.methods.robustness import (
    METRIC_NAMES,
    ChanceLevels,
    Robustness,
    compute_chance_levels,
    compute_robustness,
)

__all__ = [
    "METRIC_NAMES",
    "ChanceLevels",
    "Panel",
    "Robustness",
    "cluster_answers",
    "compute_chance_levels",
    "compute_robustness",
    "find_best_members",
    "find_representatives",
]
