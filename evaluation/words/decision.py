"""What a run's first page says of people: who is best, whom to look at, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence


def _lead(of: Mapping[str, Any]) -> str:
    if of["alike"] == 1:
        return "On other questions of the same kind the first would still lead."
    return (
        f"On other questions of the same kind the first {of['alike']} could change places: take "
        "them as equally good."
    )


def _above(of: Mapping[str, Any]) -> str:
    ranks = "Rank 1 is" if of["above"] == 1 else f"Ranks 1 to {of['above']} are"
    return f"{ranks} among the people to look at, because an alarm names them."


def _too_little(of: Mapping[str, Any]) -> str:
    if of["without_rank"] == 1:
        return "1 person answered too little to be ranked."
    return f"{of['without_rank']:,} people answered too little to be ranked."


DECISION: Mapping[str, Sentence] = {
    "best.lead": _lead,
    "best.above": _above,
    "best.no_intervals": "How sure this order is was not computed: grade again with "
    "{option[bootstrap]} at 400 to learn it.",
    "best.nobody": "Nobody is ranked: it takes 3 people, and 5 answers of each to questions that "
    "at least 3 people answered.",
    "best.all_marked": "Everybody at the top is named by an alarm: look at the evidence first.",
    "look.nobody": "No alarm names anybody, and nobody is clearly behind the others.",
    "look.lowest": "in the lowest quarter, and would be there with other questions, too (rank "
    "{first} to {last} of {ranked})",
    "look.without_rank": _too_little,
}
"""By what is said of whom."""
