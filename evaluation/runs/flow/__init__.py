"""Computations that runs of several types share, on plain records, without ORM and files."""
