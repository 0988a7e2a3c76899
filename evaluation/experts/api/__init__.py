"""REST views of the expert check."""
