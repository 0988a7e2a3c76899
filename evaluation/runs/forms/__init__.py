"""Forms that pages of several features share: declared options, a run's label, decisions."""
