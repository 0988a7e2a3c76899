"""Deletion of sets, runs and models, erasure of people, undoing of imports."""
