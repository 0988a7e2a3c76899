"""Expert checks and estimates as plain records."""
