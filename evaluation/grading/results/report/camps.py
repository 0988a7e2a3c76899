"""Two camps among the answers to a question: how large, and what each of them says."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.grading.summary import summary_of
from evaluation.models import Run

NOT_COMPUTED = "not_computed"
TOO_FEW = "fewer_than_6_answers"
UNDIVIDED = "undivided"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Camp:
    """A camp: its number of answers, and the real one nearest to its mean; None if withdrawn."""

    size: int
    answer: str | None


def why_no_camps(run: Run, separation: float | None, camps: list[Camp]) -> str:
    """Return the code of the reason why a question has no camps, or an answer of them is missing.

    "" where it has both.
    """
    if camps:
        return WITHDRAWN if any(camp.answer is None for camp in camps) else ""
    if summary_of(run).question_camps is None:
        return NOT_COMPUTED
    return TOO_FEW if separation is None else UNDIVIDED


def camps_of(sizes: tuple[int | None, int | None], answers: list[str | None]) -> list[Camp]:
    """Return the larger and the smaller camp; none where they have no sizes."""
    return [
        Camp(size, answer) for size, answer in zip(sizes, answers, strict=True) if size is not None
    ]
