"""Whether a model takes a question for unanswerable: what stands beside other kinds' numbers."""

from __future__ import annotations

from evaluation.flow.umwp.classifying import ANSWERABLE, UNANSWERABLE
from evaluation.flow.views.view import Cells, Side, View, Viewed


def taken_as_unanswerable(row: Cells) -> float | None:
    """Return 1 for a reply that says that there is no answer, 0 for one that gives one."""
    return {UNANSWERABLE: 1.0, ANSWERABLE: 0.0}.get(str(row.get("taken_as") or ""))


def told_apart(row: Cells) -> float | None:
    """Return whether a question was taken for what it is; None where nobody knows what it is."""
    label, taken = row.get("answerable"), row.get("taken_as")
    if label in (None, "") or taken in (None, ""):
        return None
    answerable = label in (True, "true")
    return float(taken == (ANSWERABLE if answerable else UNANSWERABLE))


VIEWS = (
    Viewed(
        View(
            "notices",
            Side.ANSWERABILITY,
            "Notices that there is no answer",
            "Whether the model takes the question for what it is: it says so where there is no "
            "answer, and answers where there is one.",
            lowest=0.0,
            highest=1.0,
        ),
        told_apart,
        split="form",
    ),
    Viewed(
        View(
            "says_no_answer",
            Side.ANSWERABILITY,
            "Says that there is no answer",
            "Whether the model's reply says that the question has no answer, be that right or not.",
            lowest=0.0,
            highest=1.0,
            better="",
        ),
        taken_as_unanswerable,
        split="form",
    ),
)
