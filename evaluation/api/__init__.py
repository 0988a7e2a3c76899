"""REST views of language models, their answers, runs and results."""

from evaluation.runs.rest.views import SaidField

__all__ = ["SaidField"]
