"""Charts of the results of a grading."""
