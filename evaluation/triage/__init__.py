"""Deciding which workers of a graded run to accept, to exclude or to look at again."""
