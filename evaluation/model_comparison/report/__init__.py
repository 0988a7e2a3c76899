"""Reports that compare language models: leaderboard, pairs, groups, versions, runs."""

from evaluation.model_comparison.report.leaderboard import (
    LeaderboardReport,
    LeaderRow,
    leaderboard_report,
)
from evaluation.model_comparison.report.pair import (
    ORDERS,
    Differences,
    PairDetail,
    differences,
    pair_detail,
)

__all__ = [
    "ORDERS",
    "Differences",
    "LeaderRow",
    "LeaderboardReport",
    "PairDetail",
    "differences",
    "leaderboard_report",
    "pair_detail",
]
