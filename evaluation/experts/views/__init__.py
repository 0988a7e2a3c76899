"""Pages of the expert check."""
