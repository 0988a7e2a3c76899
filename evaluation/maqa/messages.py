"""Titles and explanations of MAQA's measures of confidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Measure(NamedTuple):
    """Texts on a confidence measure: title, explanation, and what its cases are (`over`)."""

    title: str
    words: str
    over: str


MEASURES: Mapping[str, Measure] = {
    "max_softmax": Measure(
        "Maximum softmax probability",
        "probability of the first token of the answer",
        "answers",
    ),
    "entropy": Measure(
        "First-token entropy",
        "entropy of the distribution over the first token; low entropy is high confidence",
        "answers",
    ),
    "margin": Measure(
        "First-token margin",
        "probability of the first token minus that of the second likeliest",
        "answers",
    ),
    "verbalised": Measure(
        "Verbalised confidence",
        "the number from 0 to 100 that the model states",
        "replies",
    ),
    "consistency": Measure(
        "Consistency",
        "similarity of the model's replies when it is asked several times",
        "questions",
    ),
    "semantic_entropy": Measure(
        "Semantic entropy",
        "entropy over the meanings of the replies when the model is asked several times",
        "questions",
    ),
    "semantic_entropy_weighted": Measure(
        "Weighted semantic entropy",
        "semantic entropy with each reply weighted by its probability",
        "questions",
    ),
    "semantic_entropy_coverage": Measure(
        "Semantic entropy, corrected",
        "semantic entropy corrected for meanings that few replies do not show",
        "questions",
    ),
    "kernel_entropy": Measure(
        "Kernel language entropy",
        "entropy of the similarity of the replies; similar meanings count in part",
        "questions",
    ),
}
