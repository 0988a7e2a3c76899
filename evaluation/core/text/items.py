"""Questions of benchmarks, and the choice or score in a reply.

A reply to a multiple-choice item names a choice by its text, else by its letter. The score of an
LLM judge's reply is on its last line "Similarity score: 4".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from evaluation.core.text.matching import fold_spaces, normalise_for_matching

_OPEN, _CLOSE = r"[\s\"'“”‘’(\[{*_]*", r"[\s\"'“”‘’)\]}*_.:,;]*"
_LETTER = re.compile(rf"{_OPEN}([A-Za-z]){_CLOSE}")
_LABELLED = re.compile(rf"{_OPEN}([A-Za-z])[\"'*_]*\s*[).:\]][\"')\]*_.:\s]*(\S.*)", re.DOTALL)
# Here "a" is a letter and no article.
_A_AND_MORE = re.compile(r"[\W_]*a\W*[,;/|&\n]", re.IGNORECASE)
_SEVERAL_LETTERS = re.compile(r"[A-Z]{2,26}")
_STATED_PATTERN = re.compile(
    r"\W*(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:my|the)\s+)?"
    r"(?:(?:final|best|correct|right)\s+)*(?:answers?|options?|choices?)\s*"
    r"(?:(?:is|are|would be)\b\s*:?|:)\s*(?:(?:option|choice)\s+)?(\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(r"\W*(?:option|choice|answer)\s+(\S.*)", re.IGNORECASE | re.DOTALL)
_PARTS = re.compile(r"\s*(?:\n|;|\||/|,\s*(?:and|or)\b|,|\band\b|&)\s*", re.IGNORECASE)


# Characters of a text that may be a letter with brackets and an article.
LONGEST_LETTER = 8


class ChoiceFault(StrEnum):
    """Reason code of a reply that names no choice of its multiple-choice item."""

    OUT_OF_RANGE = "letter_out_of_range"
    UNREADABLE = "no_choice"


@dataclass(frozen=True)
class ParsedChoice:
    """The indices of the choices that a reply names; empty, with a `fault`, if none."""

    choices: frozenset[int]
    fault: ChoiceFault | None = None


OUT_OF_RANGE = ParsedChoice(frozenset(), ChoiceFault.OUT_OF_RANGE)
UNREADABLE = ParsedChoice(frozenset(), ChoiceFault.UNREADABLE)


class Choices:
    """The choices of a multiple-choice item, and the parser for replies to it.

    A reply is first compared with the texts of the choices (normalised, exact), and only if none
    is the same read as a letter: "b", "(B)", "B.", "B) ...", "The answer is B". It may name
    several: "A, C", "A and C", "AC", a line each, or a JSON list. The whole reply is read first,
    and its first line alone only if the whole names no choice.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        known = [fold_spaces(text) for text in texts]
        # Reversed, so that of equal texts the first keeps its place.
        self._spaced = {text: index for index, text in reversed(list(enumerate(known)))}
        self._known = known
        # Where every text is longer than a letter with its punctuation, none is a letter's.
        self._letters_only = min(map(len, known), default=0) > LONGEST_LETTER

    def __len__(self) -> int:
        return len(self.texts)

    def find_equal_choices(self) -> tuple[int, int] | None:
        """Return the indices of two choices with equal texts; None if all differ."""
        if len(self._spaced) == len(self._known):
            return None
        return next(
            (self._spaced[text], index)
            for index, text in enumerate(self._known)
            if self._spaced[text] != index
        )

    @cached_property
    def _normalised(self) -> dict[str, int | None]:
        """Index of each choice by normalised text; None where two choices share that text."""
        index_by_text: dict[str, int | None] = {}
        for index, text in enumerate(self.texts):
            key = normalise_for_matching(text)
            # Ambiguous texts name no choice: the first one would be a guess.
            index_by_text[key] = None if key in index_by_text else index
        return index_by_text

    def parse_reply(self, reply: str) -> ParsedChoice:
        """Return the choices that a reply names, or the fault that it names none."""
        lines = [line for line in reply.splitlines() if line.strip()]
        attempts = (reply, lines[0]) if len(lines) > 1 else (reply,)
        last_fault = UNREADABLE
        for text in attempts:
            for candidate in _list_candidates(text):
                parsed = self._parse_one(candidate) or self._parse_several(candidate)
                if parsed is not None and parsed.fault is None:
                    return parsed
                last_fault = parsed or last_fault
        return last_fault

    def _parse_one(self, text: str) -> ParsedChoice | None:
        """Return the choice that a text is, or the letter of; None if it is neither."""
        letter = _LETTER.fullmatch(text) if len(text) <= LONGEST_LETTER else None
        if letter and self._letters_only:
            return self._find_by_letter(letter[1])
        index = self._find_by_text(text)
        if index is not None:
            return ParsedChoice(frozenset([index]))
        if letter := letter or _LETTER.fullmatch(text):
            return self._find_by_letter(letter[1])
        if labelled := _LABELLED.fullmatch(text):
            index = self._find_by_text(labelled[2])
            return (
                self._find_by_letter(labelled[1])
                if index is None
                else ParsedChoice(frozenset([index]))
            )
        return None

    def _find_by_text(self, text: str) -> int | None:
        """Return the index of the choice that has this text; None without one."""
        index = self._spaced.get(fold_spaces(text))
        # `normalise_for_matching` would take the letter "a" for an article and drop it.
        if index is None and not _A_AND_MORE.match(text):
            return self._normalised.get(normalise_for_matching(text))
        return index

    def _find_by_letter(self, letter: str) -> ParsedChoice:
        """Return the choice with a letter (A for the first), or the fault of a later letter."""
        index = ord(letter.upper()) - ord("A")
        return ParsedChoice(frozenset([index])) if index < len(self) else OUT_OF_RANGE

    def _parse_several(self, text: str) -> ParsedChoice | None:
        """Return the choices in a list of texts or letters; None if any element is neither."""
        if _SEVERAL_LETTERS.fullmatch(text.strip()):
            parts = list(text.strip())
            if len(set(parts)) < len(parts) or ord(max(parts)) - ord("A") >= len(self):
                return None
        else:
            parts = _split_list(text)
        if len(parts) < 2 and not text.lstrip().startswith("["):
            return None
        parsed_parts = list(self._parse_parts(parts))
        if not parsed_parts or any(part is None for part in parsed_parts):
            return None
        choices_named = [part for part in parsed_parts if part is not None]
        if any(part.fault for part in choices_named):
            return OUT_OF_RANGE
        return ParsedChoice(frozenset().union(*(part.choices for part in choices_named)))

    def _parse_parts(self, parts: list[str]) -> Iterator[ParsedChoice | None]:
        """Yield the choice of each list element, rejoining choices that contain a comma."""
        start = 0
        while start < len(parts):
            # Longest first: the choice "salt, pepper" must not be read as the choice "salt".
            for end in range(len(parts), start, -1):
                choice = self._find_by_text(", ".join(parts[start:end]))
                if choice is not None:
                    yield ParsedChoice(frozenset([choice]))
                    start = end
                    break
            else:
                yield self._parse_one(parts[start])
                start += 1


def _list_candidates(text: str) -> Iterator[str]:
    """Yield a reply's text, then the text without a beginning such as "The answer is"."""
    yield text
    for pattern in (_STATED_PATTERN, _NAMED):
        if (match := pattern.fullmatch(text)) and len(match[1]) < len(text):
            yield match[1]


def _split_list(text: str) -> list[str]:
    """Return the elements of a text that is a JSON list, or a list with separators."""
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


EXTRACTIVE, CHOICE, FREE = "extractive", "choice", "free"
KINDS = (EXTRACTIVE, CHOICE, FREE)

EXACT, LEVENSHTEIN, COSINE = "exact", "levenshtein", "cosine"
MATCHERS = (CHOICE, EXACT, LEVENSHTEIN, COSINE)
DEFAULT_MATCHERS = {EXTRACTIVE: EXACT, CHOICE: CHOICE, FREE: COSINE}


@dataclass(frozen=True, slots=True)
class MultiqaItem:
    """A benchmark question with its accepted answers, choices, and rule to judge replies.

    Attributes
    ----------
    item : its id. dataset : its source, "" if unknown.
    kind : extractive (the answer is part of `context`), choice or free.
    choices : texts of the choices, for the kind choice. answers : accepted answers; for the kind
        choice their texts or letters, and a reply has to name all. Without any answer the item
        cannot be evaluated.
    matcher : one of `MATCHERS`.
    """

    item: str
    kind: str
    dataset: str
    context: str
    question: str
    choices: tuple[str, ...]
    answers: tuple[str, ...]
    matcher: str


def find_accepted_choices(item: MultiqaItem, reader: Choices) -> frozenset[int]:
    """Return the indices of the choices that an item accepts as answers.

    Raises
    ------
    ValueError : an accepted answer is none of the choices; the message is for people.
    """
    accepted: set[int] = set()
    for answer in item.answers:
        parsed = reader.parse_reply(answer)
        if parsed.fault is not None:
            raise ValueError(f"the accepted answer {answer[:60]!r} is none of the choices")
        accepted |= parsed.choices
    return frozenset(accepted)


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
class ParsedScore:
    """Score (0 to 5) and notes in an LLM judge's reply, or the reason why there is no score.

    Attributes
    ----------
    score : 0 to 5; None with the `reason`: no_score_line, score_is_no_number, score_is_a_range
        (as in the instruction, "0-5") or score_above_5.
    notes : what the judge wrote before the line, trimmed.
    """

    score: float | None
    notes: str
    reason: str | None = None


def parse_score(reply: str) -> ParsedScore:
    """Return the score on the last "Similarity score:" line of an LLM judge's reply.

    The last line that contains "Similarity score:" counts, and no earlier one. Its number
    may have decimals, be followed by "/5" or "out of 5", and be in bold or brackets; words may
    follow it.
    """
    match = None
    for match in _LABEL.finditer(reply):  # noqa: B007 - the last one
        pass
    if match is None:
        return ParsedScore(None, reply.strip(), NO_LINE)
    start = reply.rfind("\n", 0, match.start()) + 1
    end = reply.find("\n", match.end())
    value = reply[match.end() : len(reply) if end < 0 else end].rstrip("\r")
    score, reason = _parse_score_value(value)
    return ParsedScore(score, reply[:start].strip(), reason)


def _parse_score_value(text: str) -> tuple[float | None, str | None]:
    """Return (score, None) for the text after the label, or (None, reason) for an unusable one."""
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
