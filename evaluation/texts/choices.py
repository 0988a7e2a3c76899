"""Which choice a reply names: by its text, else by its letter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from evaluation.texts.matching import normalised, spaced

_OPEN, _CLOSE = r"[\s\"'“”‘’(\[{*_]*", r"[\s\"'“”‘’)\]}*_.:,;]*"
_LETTER = re.compile(rf"{_OPEN}([A-Za-z]){_CLOSE}")
_LABELLED = re.compile(rf"{_OPEN}([A-Za-z])[\"'*_]*\s*[).:\]][\"')\]*_.:\s]*(\S.*)", re.DOTALL)
# Here "a" is a letter and no article.
_A_AND_MORE = re.compile(r"[\W_]*a\W*[,;/|&\n]", re.IGNORECASE)
_SEVERAL_LETTERS = re.compile(r"[A-Z]{2,26}")
_SAID = re.compile(
    r"\W*(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:my|the)\s+)?"
    r"(?:(?:final|best|correct|right)\s+)*(?:answers?|options?|choices?)\s*"
    r"(?:(?:is|are|would be)\b\s*:?|:)\s*(?:(?:option|choice)\s+)?(\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(r"\W*(?:option|choice|answer)\s+(\S.*)", re.IGNORECASE | re.DOTALL)
_PARTS = re.compile(r"\s*(?:\n|;|\||/|,\s*(?:and|or)\b|,|\band\b|&)\s*", re.IGNORECASE)


# Characters of a text that may be a letter with brackets and an article.
LONGEST_LETTER = 8


class Fault(StrEnum):
    """Why a reply names no choice."""

    OUT_OF_RANGE = "letter_out_of_range"
    UNREADABLE = "no_choice"


@dataclass(frozen=True)
class Read:
    """The choices that a reply names, from 0; none where `fault` says why."""

    choices: frozenset[int]
    fault: Fault | None = None


OUT_OF_RANGE = Read(frozenset(), Fault.OUT_OF_RANGE)
UNREADABLE = Read(frozenset(), Fault.UNREADABLE)


class Choices:
    """The choices of an item, and how replies to it are read.

    A reply is first compared with the texts of the choices (normalised, exact), and only if none
    is the same read as a letter: "b", "(B)", "B.", "B) ...", "The answer is B". It may name
    several: "A, C", "A and C", "AC", a line each, or a JSON list. What stands in further lines
    counts where the first one alone says nothing.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        known = [spaced(text) for text in texts]
        self._spaced = {text: at for at, text in reversed(list(enumerate(known)))}
        self._known = known
        # Where every text is longer than a letter with its punctuation, none is a letter's.
        self._letters_only = min(map(len, known), default=0) > LONGEST_LETTER

    def __len__(self) -> int:
        return len(self.texts)

    def alike(self) -> tuple[int, int] | None:
        """Return two choices with the same text; None if all differ."""
        if len(self._spaced) == len(self._known):
            return None
        return next(
            (self._spaced[text], at)
            for at, text in enumerate(self._known)
            if self._spaced[text] != at
        )

    @cached_property
    def _normalised(self) -> dict[str, int | None]:
        """Choices by their normalised texts; None for two that differ by punctuation alone."""
        found: dict[str, int | None] = {}
        for at, text in enumerate(self.texts):
            key = normalised(text)
            found[key] = None if key in found else at
        return found

    def read(self, reply: str) -> Read:
        """Return what a reply names."""
        lines = [line for line in reply.splitlines() if line.strip()]
        tried = (reply, lines[0]) if len(lines) > 1 else (reply,)
        found = UNREADABLE
        for text in tried:
            for candidate in _candidates(text):
                read = self._one(candidate) or self._several(candidate)
                if read is not None and read.fault is None:
                    return read
                found = read or found
        return found

    def _one(self, text: str) -> Read | None:
        letter = _LETTER.fullmatch(text) if len(text) <= LONGEST_LETTER else None
        if letter and self._letters_only:
            return self._by_letter(letter[1])
        at = self._by_text(text)
        if at is not None:
            return Read(frozenset([at]))
        if letter := letter or _LETTER.fullmatch(text):
            return self._by_letter(letter[1])
        if labelled := _LABELLED.fullmatch(text):
            at = self._by_text(labelled[2])
            return self._by_letter(labelled[1]) if at is None else Read(frozenset([at]))
        return None

    def _by_text(self, text: str) -> int | None:
        at = self._spaced.get(spaced(text))
        if at is None and not _A_AND_MORE.match(text):
            return self._normalised.get(normalised(text))
        return at

    def _by_letter(self, letter: str) -> Read:
        at = ord(letter.upper()) - ord("A")
        return Read(frozenset([at])) if at < len(self) else OUT_OF_RANGE

    def _several(self, text: str) -> Read | None:
        if _SEVERAL_LETTERS.fullmatch(text.strip()):
            parts = list(text.strip())
            if len(set(parts)) < len(parts) or ord(max(parts)) - ord("A") >= len(self):
                return None
        else:
            parts = _listed(text)
        if len(parts) < 2 and not text.lstrip().startswith("["):
            return None
        read = list(self._joined(parts))
        if not read or any(one is None for one in read):
            return None
        named = [one for one in read if one is not None]
        if any(one.fault for one in named):
            return OUT_OF_RANGE
        return Read(frozenset().union(*(one.choices for one in named)))

    def _joined(self, parts: list[str]) -> Iterator[Read | None]:
        """Read the parts, the longest run of them that is a choice (which has a comma) first."""
        at = 0
        while at < len(parts):
            for end in range(len(parts), at, -1):
                choice = self._by_text(", ".join(parts[at:end]))
                if choice is not None:
                    yield Read(frozenset([choice]))
                    at = end
                    break
            else:
                yield self._one(parts[at])
                at += 1


def _candidates(text: str) -> Iterator[str]:
    """Yield a reply, then what is left of it without "The answer is", "Option"."""
    yield text
    for pattern in (_SAID, _NAMED):
        if (found := pattern.fullmatch(text)) and len(found[1]) < len(text):
            yield found[1]


def _listed(text: str) -> list[str]:
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list):
            return [str(part) for part in value]
        stripped = stripped.strip("[]")
    return [part for part in _PARTS.split(stripped) if part.strip()]
