"""Answers graded by experts, beside the grades of the crowd."""
