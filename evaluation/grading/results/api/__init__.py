"""REST views of a grading's results."""
