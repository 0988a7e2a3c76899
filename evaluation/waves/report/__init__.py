"""Comparison of two waves: `comparison` combines `workers`, `questions` and `models`."""
