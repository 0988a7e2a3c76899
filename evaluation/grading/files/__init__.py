"""A grading of files: read answers, write tables."""
