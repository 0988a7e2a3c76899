"""Facts: numbers, names and years in answers, and what the crowd agrees on."""
