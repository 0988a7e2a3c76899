"""Ids as they are compared, and what is noted of ids that were not written as they look.

Invisible characters are those that Unicode lets a program ignore (zero-width ones, direction marks,
soft hyphens, byte order marks, variation selectors) and control characters.
"""

from __future__ import annotations

import re
import unicodedata

from annotations.exchange.problem_messages import PROBLEM_MESSAGES

INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that leave no trace on a screen, as a class of a regular expression."""
BLANKS = "\\s\u2800"
SHOWN = 5
FEWEST_WORDS = 3
QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_BLANKS = re.compile(f"[{BLANKS}]+")
_NOTHING = re.compile(f"[{BLANKS}{INVISIBLE}]*")

_MONTH = (
    "(?:jan|janv|ene|gen|feb|f[eé]vr?|fev|mar|mars|m[aä]r|mrz|mrt|apr|avr|abr|may|mai|mag|mei|jun"
    "|juin|giu|jul|juil|lug|aug|ao[uû]t|ago|sep|sept|set|oct|okt|ott|out|nov|dec|dez|d[eé]c|dic)"
)
ROUNDED, DATED = "a long number was rounded", "a date was made of it"
NARROW, FAILED = "the column was too narrow", "a formula failed"
DAMAGED = (
    (re.compile(r"\d[.,]\d+E\+?\d+|\dE\+\d+", re.IGNORECASE), ROUNDED),
    (re.compile(r"[1-9]\d{14}0{3,}"), ROUNDED),
    (
        re.compile(
            rf"\d{{1,2}}[-. ]{{1,2}}{_MONTH}\.?(?:[- ]\d{{2,4}})?|{_MONTH}\.?[- ]\d{{2,4}}"
            r"|\d{4}-\d\d-\d\d[T ]00:00:00",
            re.IGNORECASE,
        ),
        DATED,
    ),
    (re.compile("#{3,}"), NARROW),
    (re.compile(r"#(?:N/A|NAME\?|REF!|VALUE!|NUM!|DIV/0!|NULL!)"), FAILED),
)
"""What spreadsheets make of ids, and how."""


def clean_id(text: str) -> str:
    """Return an id as it is compared: what is seen of it, in Unicode's NFC.

    Invisible characters are removed, blanks of all kinds and lengths become one space, and none
    are at its ends.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split()) if " " in text else text
    seen = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return _BLANKS.sub(" ", seen).strip()


def is_blank(text: str) -> bool:
    """Return whether nothing of a text can be seen."""
    if not text or "!" <= text[0] <= "~":
        return not text
    return _NOTHING.fullmatch(text) is not None


def wording_of(question: str) -> str:
    """Return the id of a question where it reads as its wording; "" where it does not."""
    words = [word for word in question.split() if any(c.isalpha() for c in word)]
    is_text = len(words) >= FEWEST_WORDS or question.endswith(QUESTION_MARKS)
    return question if is_text else ""


def damage_of(text: str) -> str:
    """Return what a spreadsheet did to an id, in words; "" where it looks as it was."""
    return next((cause for pattern, cause in DAMAGED if pattern.fullmatch(text)), "")


class IdNotes:
    """Cleans the ids of one file and collects what is to be noted of them."""

    def __init__(self) -> None:
        self._cleaned: dict[str, str] = {}
        self._damaged: dict[str, str] = {}

    def clean(self, raw: str) -> str:
        """Return an id as it is compared, and note it where it was written otherwise."""
        found = clean_id(raw)
        if found != raw and raw not in self._cleaned:
            written = unicodedata.normalize("NFC", raw).strip()
            if found and written != found:
                self._cleaned[raw] = found
        if found not in self._damaged and (cause := damage_of(found)):
            self._damaged[found] = cause
        return found

    @property
    def n_damaged(self) -> int:
        """The number of ids that a spreadsheet damaged."""
        return len(self._damaged)

    @property
    def damaged(self) -> str:
        """The first ids that a spreadsheet damaged, each with the cause; "" without any."""
        return ", ".join(
            f"{one[:40]} ({cause})" for one, cause in list(self._damaged.items())[:SHOWN]
        )

    @property
    def warnings(self) -> list[str]:
        """Return the sentences on the ids of the file."""
        found = []
        if self._cleaned:
            examples = ", ".join(one[:40] for one in dict.fromkeys(self._cleaned.values()))
            n_characters = sum(
                max(len(raw.strip()) - len(clean), 1) for raw, clean in self._cleaned.items()
            )
            found.append(
                _sentence(
                    "ids_cleaned",
                    n_characters=n_characters,
                    n_ids=len(self._cleaned),
                    examples=examples[:200],
                )
            )
        if self._damaged:
            found.append(_sentence("ids_damaged", n_ids=self.n_damaged, examples=self.damaged))
        return found


def _sentence(code: str, **values: object) -> str:
    reason, remedy, _ = PROBLEM_MESSAGES[code].texts(values)
    return f"{reason}. {remedy}".strip()
