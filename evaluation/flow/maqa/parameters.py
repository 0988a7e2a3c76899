"""How MAQA is evaluated: declared here, read by every door (`evaluation.options`)."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.flow.maqa.spelling import FIXED, PAPER
from evaluation.methods.maqa.consistency import EXACT, JACCARD, OVERLAP
from evaluation.options import Choice, Parameters, Whole, option

MOST_DRAWS = 100_000


@dataclass(frozen=True)
class MaqaParameters(Parameters):
    """How answers are compared, and how intervals are made."""

    rules: str = option(
        FIXED,
        Choice(
            label="Rules",
            help="How an answer is compared with the right ones.",
            choices={
                FIXED: "fixed: without case, punctuation, articles; each right answer found once",
                PAPER: "as in the paper: equal but for case, repetitions count again",
            },
        ),
    )
    similarity: str = option(
        EXACT,
        Choice(
            label="Similarity of two replies",
            help="For the consistency of a system that was asked several times.",
            choices={
                EXACT: "exact: the same set of answers",
                OVERLAP: "overlap: what they share, of the smaller one",
                JACCARD: "Jaccard: what they share, of all",
            },
        ),
    )
    bootstrap: int = option(
        400,
        Whole(
            label="Bootstrap draws",
            help="Draws of questions for the 95% intervals; 0 for none.",
            lowest=2,
            highest=MOST_DRAWS,
            or_zero=True,
            why="one draw tells nothing",
            signed_as="draws",
        ),
    )
    seed: int = option(
        0,
        Whole(
            label="Seed",
            help="Of the draws: the same seed gives the same intervals again.",
            highest=2**63 - 1,
        ),
    )
