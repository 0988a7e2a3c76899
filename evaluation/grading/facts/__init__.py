"""Facts: numbers, names and years in answers, and the values that the workers agree on."""
