"""Comparison of panels: the consensus of workers, of language models, and of both together."""
