"""Admission of workers to a collection by their scores in an earlier set."""
