"""Admission to a collection by the scores of an earlier one."""
