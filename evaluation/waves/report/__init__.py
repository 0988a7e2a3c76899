"""Comparison of two waves: `comparison` combines `scores` (workers and models) and `questions`."""
