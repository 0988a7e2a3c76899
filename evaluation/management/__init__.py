"""Commands: thin doors to studies and steps."""
