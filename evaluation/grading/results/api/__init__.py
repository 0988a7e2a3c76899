"""REST views of the results of a grading."""
