"""Questions in other words: the report of a run, its texts side by side, and its tables."""
