"""UMWP (Sun et al. 2024): whether models notice that a word problem has no answer."""
