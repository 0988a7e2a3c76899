"""How many workers are enough: the words that all doors share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence

AGREES = {
    "workers": "agreement with the experts about workers",
    "answers": "agreement with the experts about answers",
    "crowd": "agreement with the whole crowd",
}


def enough(of: Mapping[str, Any]) -> str:
    """Return how many are enough, and beyond how many more gain nothing."""
    by, full, least, plateau = of["by"], of["full"], of["enough"], of["plateau"]
    what = AGREES.get(of["measure"], of["measure"])
    if least is None or least == full:
        return f"All {full} {by} are needed: fewer reach less than 95% of their {what}."
    if of["measure"] == "crowd":
        first = f"With {least} {by} the result agrees with that of all {full} by .95 or more"
    else:
        first = (
            f"With {least} {by} you reach 95% of the {what} that {full} give "
            f"(correlation {of['correlation']:.2f}; 1 is perfect)"
        )
    if plateau is None or plateau == full:
        return f"{first}; up to {full}, more {by} still help a little."
    if plateau == least:
        return f"{first}, and nothing is gained beyond them."
    return f"{first}; beyond {plateau} nothing is gained."


CROWD_SIZE: Mapping[str, Sentence] = {
    "crowd_size.enough": enough,
    "crowd_size.no_agreement": lambda of: (
        f"No number of {of['by']} can be named: even all {of['full']} show no "
        f"{AGREES.get(of['measure'], of['measure'])} that chance could not give "
        f"(correlation {of['correlation']:.2f})."
    ),
    "crowd_size.no_correlation": lambda of: (
        f"No number of {of['by']} can be named: the {AGREES.get(of['measure'], of['measure'])} is "
        "undefined, because all grades or all scores are the same."
    ),
    "crowd_size.by_workers": "It rests on experts' grades of {judged:answer} of "
    "{judged_workers:worker}: each worker's mean score beside the mean of these grades.",
    "crowd_size.by_answers": "It rests on experts' grades of {judged:answer} of only "
    "{judged_workers:worker}, too few to compare workers: each answer's score beside its grade.",
    "crowd_size.by_crowd": "No expert has judged an answer, so smaller crowds are compared with "
    "the result of the whole crowd of {workers}. That says when the result settles, not when it "
    "is right; let an expert judge some answers to learn that.",
}
