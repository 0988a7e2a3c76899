"""Facts: numbers, names and years in answers, and the values that the crowd agrees on."""
