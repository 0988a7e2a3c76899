"""Computation of a grading, without the database."""
