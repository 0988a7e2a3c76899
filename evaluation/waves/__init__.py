"""A question set asked again: further waves, links between waves, and how they differ."""
