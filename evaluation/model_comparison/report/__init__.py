"""Reports that compare language models: leaderboard, pairs, groups, versions, runs."""

from evaluation.model_comparison.report.leaderboard import (
    LeaderboardReport,
    LeaderboardRow,
    build_leaderboard,
)
from evaluation.model_comparison.report.pair import (
    ORDERS,
    DifferencesPage,
    PairDetail,
    build_pair_detail,
    load_differences_page,
)

__all__ = [
    "ORDERS",
    "DifferencesPage",
    "LeaderboardReport",
    "LeaderboardRow",
    "PairDetail",
    "build_leaderboard",
    "build_pair_detail",
    "load_differences_page",
]
