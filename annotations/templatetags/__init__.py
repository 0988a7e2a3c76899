"""Filters for the templates of this room."""
