"""Template filters of the annotations app."""
