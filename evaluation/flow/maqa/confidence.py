"""What a reply says of its own confidence, 0 to 100.

A value without a sign of its own is on the scale of its system: shares of 1 where no such value of
the system is above 1 and one lies strictly between 0 and 1 ("1" is 100 then, "0.85" is 85), else
per cent ("1" is 1). "85%", "85/100" and "8 out of 10" say their scale themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite

OUT_OF_RANGE = "confidence_out_of_range"
UNREADABLE = "confidence_unreadable"

_VALUE = re.compile(
    r"""\s*[(\[]?(?P<said>(?:about|around|approximately|roughly|~|≈)?\s*
    (?P<number>[+-]?(?:\d+(?:[.,]\d+)?|[.]\d+))
    \s*(?:(?P<percent>%|percent|per\ cent|％)|(?:/|out\ of)\s*(?P<of>\d+(?:[.]\d+)?)\s*%?)?)
    [\s.)\]*_"'}]*""",
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = (
    r"very|quite|high|highly|medium|moderate|low|none|zero|full|complete|certain|uncertain|n/?a"
)
# What a reply says of itself: the word, what it is called in full, and the value behind a mark.
_LABELLED = re.compile(
    r"""(?:^|(?<=[\s\[({"'*_,;.]))(?:(?:my|overall|final|verbali[sz]ed)\s+)*
    (?:confidence|certainty)(?:\s+(?:level|score|rating|value|estimate))?
    (?:\s*\([^()\n]{0,40}\))?["'*_\s]*(?::|=|\bis\b|-\s)["'*_\s]*(?P<value>[^\n]*)""",
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"""(?:\bI(?:\s+am|['’]m)\s+)?
    (?:(?P<before>[+-]?\d+(?:[.,]\d+)?\s*%)\s+(?:confident|certain|sure)\b
      |(?:confident|certain|sure)\s+(?:at\s+)?\(?(?P<behind>[+-]?\d+(?:[.,]\d+)?\s*%)\)?)
    (?:\s+that\b|[^.\n]*\.?)""",
    re.VERBOSE | re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:answers?|solutions?|list)\b[^:=\n]{0,20}[:=]", re.IGNORECASE)


class ConfidenceError(ValueError):
    """It is no confidence; the code says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def are_shares(values: Iterable[object]) -> bool:
    """Return whether the values of one system are shares of 1, by those without a sign."""
    bare = [number for number in map(_bare_number, values) if number is not None]
    return any(0 < one < 1 for one in bare) and max(bare) <= 1


def _bare_number(value: object) -> float | None:
    """Return the number in a value that does not say its scale; None for any other."""
    if value is None or isinstance(value, bool):
        return None
    found = _VALUE.fullmatch(str(value))
    if found is not None:
        says = found["percent"] or found["of"]
        return None if says else float(found["number"].replace(",", "."))
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if isfinite(number) else None


def confidence_of(value: str | float | bool, shares: bool = False) -> float:
    """Return the confidence, 0 to 100, that a value of its own stands for.

    A number, or a text such as "85", "85 %", "0.85", "85/100", "8 out of 10", "about 85 percent".

    Parameters
    ----------
    shares : whether a value that does not say its scale is a share of 1 (`are_shares`).

    Raises
    ------
    ConfidenceError : confidence_out_of_range, or confidence_unreadable, a range of numbers or a
        word such as "high" too.
    """
    if isinstance(value, bool):
        raise ConfidenceError(UNREADABLE)
    found = _VALUE.fullmatch(str(value))
    if found is None:
        try:
            number = float(value)
        except ValueError:
            raise ConfidenceError(UNREADABLE) from None
        if number != number:
            raise ConfidenceError(UNREADABLE)
        return _in_range(100 * number if shares else number)
    number = float(found["number"].replace(",", "."))
    if found["of"]:
        whole = float(found["of"])
        if not whole:
            raise ConfidenceError(UNREADABLE)
        return _in_range(100 * number / whole)
    if not found["percent"] and shares:
        number *= 100
    return _in_range(number)


def said_in(reply: str) -> tuple[str | None, str]:
    """Return what a reply gives as its confidence, as it stands there, and the rest of the reply.

    The last statement counts. None if there is none.
    """
    statements = sorted(
        [*map(_labelled, _LABELLED.finditer(reply)), *map(_sentence, _SENTENCE.finditer(reply))],
        key=lambda one: one[0] if one else -1,
    )
    said, rest = None, reply
    for statement in reversed(statements):
        if statement is None:
            continue
        start, end, value = statement
        if end > len(rest):  # inside a later one
            continue
        said = value if said is None else said
        rest = rest[:start].rstrip(" ([{,;*_") + " " + rest[end:]
    return said, rest.strip() if said is not None else reply


def _labelled(found: re.Match[str]) -> tuple[int, int, str] | None:
    """Return where a statement with its label stands, and its value; None if it has none."""
    line = found["value"]
    value = _VALUE.match(line)
    if value is None:
        is_word = re.match(_WORDS, line, re.IGNORECASE)
        return (found.start(), found.end(), line.strip(" .*_)\"'}")) if is_word else None
    behind = line[value.end() :]
    more = _MORE.search(behind)
    end = found.end() - len(behind) if more else found.end()
    said = value["said"].strip()
    # A range, or a number that goes on as a word, is no one value.
    if re.match(r"\s*(?:[-–]|to\b|or\b)\s*\d", behind) or _goes_on(line, value):
        said = line.strip()
    return found.start(), end, said


def _goes_on(line: str, value: re.Match[str]) -> bool:
    end = value.end("said")
    return not line[end - 1].isspace() and line[end : end + 1].isalnum()


def _sentence(found: re.Match[str]) -> tuple[int, int, str]:
    return found.start(), found.end(), found["before"] or found["behind"]


def _in_range(number: float) -> float:
    if not 0 <= number <= 100:
        raise ConfidenceError(OUT_OF_RANGE)
    return number
