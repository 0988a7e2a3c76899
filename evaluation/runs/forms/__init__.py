"""Forms that pages of several features share: run options, a run's name, stale decisions."""
