"""Computation of a grading, on plain records."""
