"""A reply taken apart: sentences, and windows of six words."""

from __future__ import annotations

import re

FIXED, PAPER = "fixed", "paper"
WINDOW = 6
LAST = 3

_ENDS = re.compile(r"[.!?\n。！？．｡\u2028\u2029\r]+")
# A point between digits is that of a decimal number.
_ENDS_FIXED = re.compile(r"(?:[!?\n。！？｡\u2028\u2029\r]|(?<!\d)[.．]|[.．](?!\d))+")
_PUNCTUATION = re.compile(r"[^\w\s]$")


def sentences(reply: str, rules: str = FIXED) -> list[str]:
    """Return the parts between . ! ? and line ends, in other scripts too; none is empty.

    With the rules "paper" a point ends a sentence inside a number, too.
    """
    ends = _ENDS if rules == PAPER else _ENDS_FIXED
    return [part.strip() for part in ends.split(reply) if part.strip()]


def plain(sentence: str) -> str:
    """Return a sentence as it is compared: in small letters, without one mark at its end."""
    return _PUNCTUATION.sub("", " ".join(sentence.lower().split())).strip()


def windows(reply: str, rules: str = FIXED) -> list[str]:
    """Return all runs of six words of the sentences; a sentence of six or fewer as it is."""
    found = []
    for sentence in sentences(reply, rules):
        words = plain(sentence).split()
        if not words:
            continue
        starts = range(max(1, len(words) - WINDOW + 1))
        found += [" ".join(words[start : start + WINDOW]) for start in starts]
    return found
