"""The two camps among the answers to a question: sizes, and nearest answers."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.grading.summary import read_summary
from evaluation.models import Run

NOT_COMPUTED = "not_computed"
TOO_FEW = "fewer_than_6_answers"
UNDIVIDED = "undivided"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Camp:
    """A camp: number of answers, and the answer nearest to its mean, None if withdrawn."""

    size: int
    answer: str | None


def find_camps_reason(run: Run, separation: float | None, camps: list[Camp]) -> str:
    """Return the code of why a question has no camps, or lacks an answer of one; "" for neither."""
    if camps:
        return WITHDRAWN if any(camp.answer is None for camp in camps) else ""
    if read_summary(run).question_camps is None:
        return NOT_COMPUTED
    return TOO_FEW if separation is None else UNDIVIDED


def build_camps(sizes: tuple[int | None, int | None], answers: list[str | None]) -> list[Camp]:
    """Return the larger and the smaller camp; [] without sizes."""
    return [
        Camp(size, answer) for size, answer in zip(sizes, answers, strict=True) if size is not None
    ]
