"""Faults at random moments of a working installation, and what must hold through them."""
