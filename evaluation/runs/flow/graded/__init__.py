"""Choose the scoring method to trust in a domain, by graded answers of it."""
