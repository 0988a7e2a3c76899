"""Deletion in the background, in batches of rows."""
