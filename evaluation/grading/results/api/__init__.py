"""REST API views of the results of a grading."""
