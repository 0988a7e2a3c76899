"""The rule by which a judge's words become a score or a verdict, or nothing, with the reason.

A reply that could be read in two ways is no score: never is one made up, least of all a 0.
"""

from __future__ import annotations

import re

from evaluation.flow.judge.prompts import HIGHEST, LOWEST
from evaluation.methods.judge import BETTER, TIE, WORSE

NO_NUMBER, SEVERAL_NUMBERS, OUT_OF_RANGE = "no_number", "several_numbers", "out_of_range"
NO_VERDICT, SEVERAL_VERDICTS = "no_verdict", "several_verdicts"
# Why a reply gives no number, and is asked for once more.
UNREADABLE = (NO_NUMBER, SEVERAL_NUMBERS, OUT_OF_RANGE, NO_VERDICT, SEVERAL_VERDICTS)

_OF_FIVE = re.compile(r"(?<=\d)\W{0,4}(?:/|\bout of\b|\bof\b)\s*5(?:[.,]0+)?(?![\w.,]*\d)", re.I)
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d+(?:[.,]\d+)?(?!\w|[.,]\d)")
# A lone "a" is an article, unless it is all there is.
_VERDICT = re.compile(r"(?<![\w'])(?:A|B|[Tt]ie|TIE|[Ee]qual)(?![\w'])")
_WORTH = {"a": BETTER, "b": WORSE, "tie": TIE, "equal": TIE}


def score_in(reply: str) -> tuple[float | None, str | None]:
    """Return the score of a reply, 0 to 5, or None and why.

    The one number in it, "4", "4.5", "**4**", "Score: 4", "4/5" or "4 out of 5"; said twice it is
    still one. Two numbers, a range such as "3-4", are none.
    """
    text = _OF_FIVE.sub("", reply)
    found = {one.replace(",", ".").replace("−", "-") for one in _NUMBER.findall(text)}
    numbers = {float(one) for one in found}
    if not numbers:
        return None, NO_NUMBER
    if len(numbers) > 1:
        return None, SEVERAL_NUMBERS
    (score,) = numbers
    if not LOWEST <= score <= HIGHEST:
        return None, OUT_OF_RANGE
    return score, None


def verdict_in(reply: str) -> tuple[float | None, str | None]:
    """Return 1 where a reply names A, 0 for B, .5 for a tie, or None and why."""
    bare = reply.strip().strip("*_`\"'.()[] ").lower()
    if bare in _WORTH:
        return _WORTH[bare], None
    found = {one.lower() for one in _VERDICT.findall(reply)}
    worths = {_WORTH[one] for one in found}
    if not worths:
        return None, NO_VERDICT
    if len(worths) > 1:
        return None, SEVERAL_VERDICTS
    return worths.pop(), None
