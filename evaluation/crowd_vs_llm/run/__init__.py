"""Comparison of panels without database: the computation, and the summary that a run stores."""
