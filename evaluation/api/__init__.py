"""REST: language models, their answers, runs and results, with the kit of `annotations.web`."""
