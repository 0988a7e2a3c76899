"""Doors only: each command opens onto one function elsewhere."""
