"""Whether a reply takes its problem for unanswerable, and by what that was decided."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.exchange.records import AnswerStatus
from evaluation.flow.umwp.expressions import expression_in
from evaluation.flow.umwp.likeness import Likeness
from evaluation.flow.umwp.numbers import answer_of
from evaluation.flow.umwp.pieces import FIXED, windows

ANSWERABLE, UNANSWERABLE, REFUSED = "answerable", "unanswerable", "refused"
TEMPLATE, EXPRESSION, NOTHING = "template", "expression", "nothing"
REFUSALS = (AnswerStatus.REFUSED, AnswerStatus.REFUSED_PROMPT, AnswerStatus.REFUSED_GENERATION)


@dataclass(frozen=True)
class Classified:
    """What was made of a reply.

    Attributes
    ----------
    taken_as : "unanswerable", "answerable" or "refused". by : "template", "expression" or
        "nothing" (neither was found); "refused" or "empty" for a reply without text.
    similarity, window, template : of the window that is most like a template; None without words.
    expression : the one that decided. answer : the number that is given, None without one.
    """

    taken_as: str
    by: str
    similarity: float | None = None
    window: str | None = None
    template: str | None = None
    expression: str | None = None
    answer: float | None = None


def classify(
    reply: str,
    status: AnswerStatus,
    found: Likeness,
    threshold: float,
    rules: str = FIXED,
    is_math: bool = True,
) -> Classified:
    """Classify a reply that came.

    Parameters
    ----------
    found : the likeness of its windows, among others. threshold : a window above it decides.
    is_math : whether the answer is a number. In a text answer, such as CO2, letters are no
        variables, so that no expression decides.
    """
    if status in REFUSALS:
        return Classified(REFUSED, REFUSED)
    if status is AnswerStatus.EMPTY:
        return Classified(ANSWERABLE, AnswerStatus.EMPTY.value)
    nearest = found.nearest(windows(reply, rules))
    like: tuple[float | None, str | None, str | None] = nearest or (None, None, None)
    if nearest is not None and nearest[0] > threshold:
        return Classified(UNANSWERABLE, TEMPLATE, *like)
    expression = expression_in(reply, rules) if is_math else None
    if expression is not None:
        return Classified(UNANSWERABLE, EXPRESSION, *like, expression)
    return Classified(ANSWERABLE, NOTHING, *like, None, answer_of(reply))
