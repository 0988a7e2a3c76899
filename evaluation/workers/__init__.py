"""Workers across runs and question sets."""
