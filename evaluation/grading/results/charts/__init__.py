"""Charts of a grading's results."""
