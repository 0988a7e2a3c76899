"""A grading on files: read answers, write tables."""
