"""Error sentences about amounts of money and about decisions on submissions, by code."""

from __future__ import annotations

from annotations.sentences import Sentences

AMOUNTS = Sentences(
    {
        "not_an_amount": "{text!r} is no amount: write it with a point and at most two places, "
        "such as 1.50",
        "out_of_range": "{amount} is no bonus: it goes from {least} to {most:,}.00",
    }
)
"""Why a text is no amount."""

DECISIONS = Sentences(
    {
        "decision_missing": "the decision is missing",
        "decision_unknown": "{text!r} is no decision",
        "reason_not_text": "there is a character in it that is no text",
        "reason_too_long": "it has {n:,} characters, more than {most:,}",
        "reason_too_short": "a rejection needs a reason of at least {least} characters, and this "
        "has {n}",
        "category_not_allowed": "a category belongs to a rejection only",
        "category_missing": "a rejection needs a category",
        "category_unknown": "{text!r} is no category of a rejection",
    }
)
"""What keeps a decision from being taken."""
