"""REST: language models, their answers, runs and results, with the kit of `annotations.web`."""

from evaluation.api.said import SaidField

__all__ = ["SaidField"]
