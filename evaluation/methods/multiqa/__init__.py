"""Robustness of a model under rewording: MultiQ&A (Cho and Watson 2025).

n items, each asked in R ways, the first of which is the original. `panel` holds the replies as
arrays; `votes` counts what they say, `items` makes the numbers of each item, `reliability` those
of all items together, `chance` what guessing would give; `robustness` puts a group's numbers with
their intervals side by side. `clusters` says which free texts mean the same.
"""

from evaluation.methods.multiqa.chance import Chance, chance_of
from evaluation.methods.multiqa.clusters import best_members, cluster, representatives
from evaluation.methods.multiqa.panel import Panel
from evaluation.methods.multiqa.robustness import NAMES, Robustness, robustness

__all__ = [
    "NAMES",
    "Chance",
    "Panel",
    "Robustness",
    "best_members",
    "chance_of",
    "cluster",
    "representatives",
    "robustness",
]
