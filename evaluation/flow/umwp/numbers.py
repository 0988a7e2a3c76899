"""The number that a reply gives as its answer."""

from __future__ import annotations

import re

from evaluation.flow.umwp.pieces import FIXED, LAST, PAPER, sentences

_NUMBER = re.compile(
    r"""(?:(?<![\w)\]])(?<!\d\ )[-−](?=[$€£]?[\d.]))?[$€£]?   # a sign, and none between two numbers
    (?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<!\d)\.\d+)""",
    re.VERBOSE,
)
_DIGITS = re.compile(r"\d+")
_ANSWER_IS = re.compile(r"\banswer\s+is\b", re.IGNORECASE)
_CLOSE = 1e-6


def answer_of(reply: str) -> float | None:
    """Return the last number after "answer is", else the last number; None without a number.

    Decimal points and thousands are read: 1,250.5 is one number.
    """
    said = list(_ANSWER_IS.finditer(reply))
    behind = _last(reply[said[-1].end() :]) if said else None
    return _last(reply) if behind is None else behind


def is_right(reply: str, answers: tuple[float, ...], rules: str = FIXED) -> bool:
    """Whether a reply gives one of the right numbers.

    With the rules "paper": whether a right number is among any run of digits in the last three
    sentences, where 2.5 is 2 and 5, and 1,250 is 1 and 250.
    """
    if rules == PAPER:
        found = _DIGITS.findall(" ".join(sentences(reply, PAPER)[-LAST:]))
        return any(float(one) in answers for one in found if len(one) < 300)
    number = answer_of(reply)
    return number is not None and any(
        abs(number - answer) <= _CLOSE * max(1.0, abs(answer)) for answer in answers
    )


def _last(text: str) -> float | None:
    found = _NUMBER.findall(text)
    if not found or len(found[-1]) > 300:
        return None
    return float(re.sub(r"[,\s$€£]", "", found[-1]).replace("−", "-"))
