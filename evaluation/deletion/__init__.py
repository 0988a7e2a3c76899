"""Delete question sets, runs and models, erase workers' answers, and undo imports."""
