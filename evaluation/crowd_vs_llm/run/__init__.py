"""Compares panels on plain records: `comparison` makes them, `summary` is what a run stores."""
