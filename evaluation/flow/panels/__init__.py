"""Panels: exemplary answers of people, of models and of both, and how far they are apart."""
