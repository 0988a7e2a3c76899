"""Pages about trust and the next decision."""
