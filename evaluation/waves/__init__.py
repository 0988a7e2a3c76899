"""Waves: repeated collections of a question set, their links and their comparison."""
