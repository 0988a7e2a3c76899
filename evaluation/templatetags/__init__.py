"""Template filters and tags of the evaluation app."""
