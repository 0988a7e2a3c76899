"""Management commands: thin wrappers around studies and runs."""
