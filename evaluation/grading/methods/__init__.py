"""The map of answers and the results of checks, on arrays and numbers."""
