"""The two camps among the answers to a question: sizes, and typical answers."""

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
    """A group of similar answers to a question: its size, and its most typical answer."""

    size: int
    answer: str | None


def find_camps_reason(run: Run, separation: float | None, camps: list[Camp]) -> str:
    """Return the code why a question has no two camps of answers, or lacks an example; or ""."""
    if camps:
        return WITHDRAWN if any(camp.answer is None for camp in camps) else ""
    if read_summary(run).question_camps is None:
        return NOT_COMPUTED
    return TOO_FEW if separation is None else UNDIVIDED


def build_camps(sizes: tuple[int | None, int | None], answers: list[str | None]) -> list[Camp]:
    """Return the larger and the smaller group of similar answers; empty without sizes."""
    return [
        Camp(size, answer) for size, answer in zip(sizes, answers, strict=True) if size is not None
    ]
