"""Pages of the results of a grading."""
