"""Workers' histories across runs and question sets."""
