"""Embedders behind one contract, loaded on demand."""
