"""What the measures of MAQA are called, and what each says, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Measure(NamedTuple):
    """What people call a measure of sureness, what it says, and what it is compared over."""

    title: str
    words: str
    over: str


MEASURES: Mapping[str, Measure] = {
    "max_softmax": Measure(
        "probability of the first word",
        "how likely the model found the first piece of its answer",
        "answers",
    ),
    "entropy": Measure(
        "spread of the first word",
        "over how many first pieces the model was torn (entropy)",
        "answers",
    ),
    "margin": Measure(
        "lead of the first word",
        "how far the first piece was ahead of the second likeliest (margin)",
        "answers",
    ),
    "verbalised": Measure(
        "confidence it states",
        "the number from 0 to 100 that the model gave itself",
        "replies",
    ),
    "consistency": Measure(
        "says the same list again",
        "how alike its replies are when it is asked again (consistency)",
        "questions",
    ),
    "semantic_entropy": Measure(
        "says the same again in any words",
        "how many meanings its replies have when it is asked again (semantic entropy)",
        "questions",
    ),
    "semantic_entropy_weighted": Measure(
        "the same, likelier replies count more",
        "how many meanings its replies have, weighted by how likely it found each",
        "questions",
    ),
}
