"""Language models compared: leaderboard, pairs and groups of questions."""
