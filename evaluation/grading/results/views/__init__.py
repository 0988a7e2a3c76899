"""Pages of a grading's results."""
