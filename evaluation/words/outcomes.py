"""What became of an alarm after a remedy, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence, counted
from evaluation.words.reasons import why_not_checked


def _graded(of: Mapping[str, Any]) -> str:
    return counted(of["graded"], "answer")


def _agreement(of: Mapping[str, Any]) -> str:
    """Return how the order agrees with either camp; "" where one is not known."""
    mine, other = of.get("agreement"), of.get("other_agreement")
    if mine is None or other is None:
        return ""
    return (
        f" (its order agrees with that of a grading by this camp alone by {mine:.2f}, by the other "
        f"camp alone by {other:.2f}; 1 is the same order)"
    )


def _won(of: Mapping[str, Any]) -> str:
    return (
        f"Settled by experts: they graded {_graded(of)}, and the ranking that agrees best with "
        f"them follows this camp{_agreement(of)}."
    )


def _lost(of: Mapping[str, Any]) -> str:
    return (
        f"Settled by experts: they graded {_graded(of)}, and the ranking that agrees best with "
        f"them follows the other camp{_agreement(of)}."
    )


def _camp(of: Mapping[str, Any]) -> str:
    follows = "follows this camp" if of["follows"] else "does not follow this camp"
    return (
        f"Still there: nobody has settled which camp is right. The ranking {follows}"
        f"{_agreement(of)}."
    )


OUTCOMES: Mapping[str, Sentence] = {
    "outcome.excluded": lambda of: (
        "Gone: the one whom it was about is left out."
        if of["workers"] == 1
        else f"Gone: all {of['workers']:,} whom it was about are left out."
    ),
    "outcome.some_excluded": lambda of: (
        f"Gone: {of['excluded']:,} of the {of['workers']:,} whom it was about "
        f"{'is' if of['excluded'] == 1 else 'are'} left out, and among the others it is not seen "
        "any more."
    ),
    "outcome.silent_without": "Gone: without those who are left out it is not seen any more.",
    "outcome.collapsed": "Answered: the {workers} of them count as one voter, with the answers in "
    "the middle of theirs.",
    "outcome.collapsed_first": "Answered: the {workers} of them count as one voter, with the "
    "answers of the one who was first by the times of the answers.",
    "outcome.settled": lambda of: (
        f"Settled by experts: they graded {_graded(of)}, and the ranking that agrees best with "
        "them was taken."
    ),
    "outcome.settled_won": _won,
    "outcome.settled_lost": _lost,
    "outcome.settled_questions": lambda of: (
        f"Settled by experts: they graded {_graded(of)}, and the camps on these questions are the "
        "two camps of the crowd between which that decided."
    ),
    "outcome.nearest_camp": "Answered: on these questions each answer is compared with the nearer "
    "of the two camps, so that no camp loses for being the smaller one.",
    "outcome.silent": "Answered: it was looked for again among those who vote now, as they vote "
    "now, and it is not seen any more.",
    "outcome.still": "Still there: it was looked for again after the remedy.",
    "outcome.still_camp": _camp,
    "outcome.unchecked": lambda of: (
        "Still open: after the remedy it could not be looked for again, because "
        f"{why_not_checked(of['reason'])}."
    ),
    "outcome.settings": "Gone: with the settings of this run it is not seen any more.",
    "outcome.new": "New: it came with the remedy, and was not there before.",
}
