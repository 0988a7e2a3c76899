"""Whether a grading can be trusted, and what to decide next."""
