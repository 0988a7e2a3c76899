"""Define the reasons for excluding a worker, with their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """A reason for excluding a worker: its labels, message to the worker, Prolific category.

    Attributes
    ----------
    words : as people choose it. briefly : after "Excluded: ".
    prolific : the category of a rejection on Prolific.
    told : a sentence to the worker; "" where only own words say it.
    rejects : whether panels take it as a reason to refuse the work.
    """

    words: str
    briefly: str
    prolific: str = "OTHER"
    told: str = ""
    rejects: bool = True


OWN = "own"


REASONS: Mapping[str, Reason] = {
    "copied": Reason(
        "Copied from others",
        "copied from others",
        told="Your answers are, but for light edits, the same as another participant's answers to "
        "the same questions.",
    ),
    "low_effort": Reason(
        "Clear low effort",
        "clear low effort",
        "LOW_EFFORT",
        "Your answers show clear low effort.",
    ),
    "instructions": Reason(
        "Failed the instructions",
        "failed the instructions",
        "FAILED_INSTRUCTIONS",
        "Your answers do not follow the instructions of the task.",
    ),
    "skipped": Reason(
        "Skipped required questions",
        "skipped required questions",
        "FAILED_INSTRUCTIONS",
        "You left questions without an answer that the task asks everybody to answer.",
    ),
    "attention": Reason(
        "Failed an attention check",
        "failed an attention check",
        "FAILED_CHECK",
        "You failed an attention check of the task.",
    ),
    "too_fast": Reason(
        "Far too fast",
        "far too fast",
        "TOO_QUICKLY",
        "You finished the task far too fast to have read what it asks.",
    ),
    "machine": Reason(
        "Looks written by a language model",
        "looks written by a language model",
        rejects=False,
    ),
    OWN: Reason("Another reason, in my own words", "another reason"),
}
"""By code, in the order in which they are offered."""
