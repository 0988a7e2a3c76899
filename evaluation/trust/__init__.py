"""Assess whether a grading can be trusted, and recommend the next decision."""
