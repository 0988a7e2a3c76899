"""Split a text into tokens (words, figures, marks), and find the clauses around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

FIGURE, WORD, MARK = "figure", "word", "mark"
# Figures of more characters are codes, or noise.
LONGEST_FIGURE = 24
# Characters of a word that count as its stem, and of the shortest word that says what it is about.
STEM, SHORTEST = 5, 4

_TOKEN = re.compile(
    r"(?P<figure>\d+(?:[.,'’\u00a0\u202f]\d+)*)"
    # Raised and broken figures are letters to Python; here each stands for itself.
    r"|(?P<word>[^\W\d_²³½¼¾⅓⅔⅛]+(?:['’][^\W\d_²³½¼¾⅓⅔⅛]+)*)"
    r"|(?P<mark>[^\w\s]|[_²³½¼¾⅓⅔⅛])"
)
_ENDS = frozenset(".!?;:,\n")
_JOINTS_WORDS = (
    "and but or while whereas because although though which that who whom whose "
    "where when since so then if"
)
_JOINTS = frozenset(_JOINTS_WORDS.split())
# Words of four letters and more that say nothing of what a clause is about.
_EMPTY_WORDS = (
    "about above after again also around been before being below between both "
    "could does down each even every exactly from have having here into just least "
    "less made make many more most much nearly only other over roughly same should "
    "some such than their them then there these they this those through under "
    "until upon very were what will with within would your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


class Token(NamedTuple):
    """A word, figure or mark in a text, with its lower-case form and position.

    `glued` says that nothing stands between it and the token before.
    """

    text: str
    lower: str
    kind: str
    start: int
    end: int
    glued: bool


def tokenise(text: str) -> list[Token]:
    """Return the tokens of a text (words, figures, marks), in their order."""
    tokens, last = [], -1
    for match in _TOKEN.finditer(text):
        token_text = match.group()
        start, end = match.span()
        tokens.append(
            Token(
                token_text, token_text.lower(), match.lastgroup or MARK, start, end, start == last
            )
        )
        last = end
    return tokens


def find_clause(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """Return begin and end token of the clause around a token, 40 tokens at most.

    Clauses end at punctuation, conjunctions and relatives.
    """
    begin = end = at
    while begin > 0 and at - begin < 20 and not _is_separator(tokens[begin - 1]):
        begin -= 1
    while end < len(tokens) and end - at < 20 and not _is_separator(tokens[end]):
        end += 1
    return begin, end


def collect_stems(tokens: Sequence[Token], begin: int, end: int) -> frozenset[str]:
    """Return the 5-letter stems of the content words in tokens `begin` to `end`."""
    return frozenset(
        one.lower[:STEM]
        for one in tokens[begin:end]
        if one.kind == WORD and len(one.lower) >= SHORTEST and one.lower not in _EMPTY
    )


def _is_separator(token: Token) -> bool:
    """Return whether a token separates clauses: punctuation or a conjunction."""
    return token.text in _ENDS or token.lower in _JOINTS
