"""Runs (computations on a question set) of every type: life cycle, inputs, outputs, pages, REST."""
