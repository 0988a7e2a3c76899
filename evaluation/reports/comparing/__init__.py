"""Language models compared on a question set: leaderboard, pairs, groups, versions, runs."""

from evaluation.reports.comparing.leaderboard import (
    LeaderboardReport,
    LeaderRow,
    leaderboard_report,
)
from evaluation.reports.comparing.pair import PairDetail, pair_detail
from evaluation.reports.comparing.questions import ORDERS, Differences, differences

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
