"""A worker's history across runs as plain records."""
