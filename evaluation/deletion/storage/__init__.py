"""Deletion in the background, some rows at a time."""
