"""REST views of language models, their answers, runs and results."""

from evaluation.runs.rest.views import MessageField

__all__ = ["MessageField"]
