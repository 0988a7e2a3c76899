"""Parse the score in an LLM judge's reply: its last line "Similarity score: 4"."""

from __future__ import annotations

import re
from dataclasses import dataclass

HIGHEST = 5.0

# "Similarity score:", also in bold, with a scale in brackets, behind other words of its line.
_LABEL = re.compile(
    r"similarity[ \t*_]+score[ \t*_`\"']*(?:\([^()\n]*\))?[ \t*_`\"']*[:=\N{FULLWIDTH COLON}]",
    re.IGNORECASE,
)
_OPENING = r"[ \t*_`\"'\[(<$]*"
_CLOSING = r"[ \t*_`\"'\])>$]*"
_NUMBER = re.compile(rf"{_OPENING}(\d+(?:[.,]\d+)?|\.\d+)(?![\w%+])(?![.,]\d){_CLOSING}")
_OF_FIVE = re.compile(rf"(?:/|out[ \t]+of\b|of\b){_OPENING}5(?:\.0+)?(?![\w.,]*\d){_CLOSING}")
# What makes the number one end of a range, or part of another one.
_MORE = re.compile(
    r"(?:[-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}~/\\:^]|to\b|or\b|and\b|out\b|of\b|\.\.)"
    r"[ \t*_]*[.\d]"
)

NO_LINE = "no_score_line"
NO_NUMBER = "score_is_no_number"
RANGE = "score_is_a_range"
TOO_HIGH = "score_above_5"


@dataclass(frozen=True, slots=True)
class ReadScore:
    """Score (0 to 5) and notes in an LLM judge's reply, or the reason for having no score.

    Attributes
    ----------
    score : 0 to 5; None with the `reason`: no_score_line, score_is_no_number, score_is_a_range
        (as in the instruction, "0-5") or score_above_5.
    notes : what the judge wrote before the line, trimmed.
    """

    score: float | None
    notes: str
    reason: str | None = None


def parse_score(reply: str) -> ReadScore:
    """Return the score on the last "Similarity score:" line of an LLM judge's reply.

    The last line that holds "Similarity score:" counts, whatever an earlier one says. Its number
    may have decimals, be followed by "/5" or "out of 5", and stand in bold or brackets; words may
    follow it.
    """
    found = None
    for found in _LABEL.finditer(reply):  # noqa: B007 - the last one
        pass
    if found is None:
        return ReadScore(None, reply.strip(), NO_LINE)
    start = reply.rfind("\n", 0, found.start()) + 1
    end = reply.find("\n", found.end())
    value = reply[found.end() : len(reply) if end < 0 else end].rstrip("\r")
    score, reason = _parse_value(value)
    return ReadScore(score, reply[:start].strip(), reason)


def _parse_value(text: str) -> tuple[float | None, str | None]:
    """Return the number after the label, 0 to 5, or None with the reason."""
    number = _NUMBER.match(text)
    if number is None:
        return None, NO_NUMBER
    rest = text[number.end() :]
    of_five = _OF_FIVE.match(rest)
    if of_five is not None:
        rest = rest[of_five.end() :]
    if _MORE.match(rest.lstrip()):
        return None, RANGE
    score = float(number[1].replace(",", "."))
    return (score, None) if score <= HIGHEST else (None, TOO_HIGH)
