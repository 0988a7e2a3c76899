"""Reports that compare language models: leaderboard, pairs, groups, versions, runs."""

from evaluation.model_comparison.report.leaderboard import (
    LeaderboardReport,
    LeaderRow,
    build_leaderboard,
)
from evaluation.model_comparison.report.pair import (
    ORDERS,
    Differences,
    PairDetail,
    build_pair_detail,
    load_differences,
)

__all__ = [
    "ORDERS",
    "Differences",
    "LeaderRow",
    "LeaderboardReport",
    "PairDetail",
    "build_leaderboard",
    "build_pair_detail",
    "load_differences",
]
