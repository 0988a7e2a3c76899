"""What pages of the site ask once."""

FOR_THE_READER = 3
"""Queries that a page asks once, for all its lists: teams, shares and sets that the reader sees."""
