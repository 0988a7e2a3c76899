"""What models are asked: for all right answers, or for an answer, and for their confidence."""

from __future__ import annotations

from evaluation.backends.chat.contract import Message

_CONFIDENCE = (
    'On the next line write "Confidence: " and a number from 0 to 100: how sure you are that {} is '
    "right."
)
TOLD = (
    "The question has one or more right answers. Reply with all of them as one JSON list of texts, "
    'such as ["first", "second"], and with nothing else on that line. '
    + _CONFIDENCE.format("the list")
)
"""Of a question with a list of right answers."""

TOLD_OPEN = "Answer the question in one to three sentences. " + _CONFIDENCE.format("the answer")
"""Of a question that everybody answers in own words."""


def conversation(told: str, question: str) -> tuple[Message, ...]:
    """Return the conversation in which a question is put."""
    return ({"role": "system", "content": told}, {"role": "user", "content": question})
