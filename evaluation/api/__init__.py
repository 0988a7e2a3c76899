"""REST: language models, their answers, runs and results; the manner of `annotations.api`."""
