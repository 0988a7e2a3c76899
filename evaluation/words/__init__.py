"""Codes to sentences, one catalogue a door."""
