"""Statistical inference: intervals, bootstrap draws, tests, comparisons."""
