"""Statistics of two columns of numbers, each in one place with its edge rules."""
