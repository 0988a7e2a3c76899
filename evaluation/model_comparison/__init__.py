"""Comparison of language models: leaderboard, pairs and groups of questions."""
