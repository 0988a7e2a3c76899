"""Embedders: texts to vectors, a small contract, loaded only when asked for."""
