"""REST views of language models, their answers, runs and results."""

from evaluation.runs.rest.message_field import SaidField

__all__ = ["SaidField"]
