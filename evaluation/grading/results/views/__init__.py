"""Web pages of the results of a grading."""
