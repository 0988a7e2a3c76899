"""Split replies into sentences and into windows of six words (Sun et al. 2024)."""

from __future__ import annotations

import re

FIXED, PAPER = "fixed", "paper"
WINDOW = 6
N_LAST_SENTENCES = 3

_ENDS = re.compile(r"[.!?\n。！？．｡\u2028\u2029\r]+")
# A point between digits is that of a decimal number.
_ENDS_FIXED = re.compile(r"(?:[!?\n。！？｡\u2028\u2029\r]|(?<!\d)[.．]|[.．](?!\d))+")
_PUNCTUATION = re.compile(r"[^\w\s]$")


def sentences(reply: str, rules: str = FIXED) -> list[str]:
    """Return the nonempty sentences of a reply, split at . ! ? and line ends.

    The full stops of Chinese and Japanese end a sentence too. With the rules "paper" a decimal
    point ends a sentence; with "fixed" it does not.
    """
    ends = _ENDS if rules == PAPER else _ENDS_FIXED
    return [part.strip() for part in ends.split(reply) if part.strip()]


def normalize_sentence(sentence: str) -> str:
    """Return a sentence in lower case, without final punctuation and extra white space."""
    return _PUNCTUATION.sub("", " ".join(sentence.lower().split())).strip()


def list_windows(reply: str, rules: str = FIXED) -> list[str]:
    """Return each six consecutive words within a sentence of a reply, in lower case.

    A sentence of six words or fewer is one window.
    """
    result = []
    for sentence in sentences(reply, rules):
        words = normalize_sentence(sentence).split()
        if not words:
            continue
        starts = range(max(1, len(words) - WINDOW + 1))
        result += [" ".join(words[start : start + WINDOW]) for start in starts]
    return result
