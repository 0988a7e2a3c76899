"""Embedders (models that turn texts into vectors) behind one contract, loaded on demand."""
