"""REST API of payments."""
