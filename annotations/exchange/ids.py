"""Clean ids for comparison, and record ids that were cleaned or damaged by a spreadsheet.

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
# Words without a letter do not count: an id such as "block 2 14" is no wording.
FEWEST_WORDS = 3
QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_BLANKS = re.compile(f"[{BLANKS}]+")
# A formula, or an apostrophe before a number or an id of Prolific, keeps a spreadsheet from
# converting the cell; other ids may begin with an apostrophe.
_GUARDED = re.compile(r"""="(?P<formula>[^"]*)"|'(?P<plain>[0-9a-f]{24}|[0-9]+)""", re.IGNORECASE)
_PROLIFIC_MAIL = re.compile(r"([0-9a-f]{24})@email\.prolific\.com?", re.IGNORECASE)
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
"""Patterns of ids that a spreadsheet damaged, each with the cause."""


def clean_id(text: str) -> str:
    """Return an id in the form in which ids are compared: visible characters only, in NFC.

    Invisible characters are removed, blanks of all kinds and lengths become one space, and none
    are at its ends. Of a cell that is guarded from a spreadsheet (="12", '12) the id is returned.
    """
    # The usual case: printable ASCII needs no normalisation.
    if text.isascii() and text.isprintable():
        seen = " ".join(text.split()) if " " in text else text
    else:
        seen = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
        seen = _BLANKS.sub(" ", seen).strip()
    if seen[:1] in ("=", "'") and (guarded := _GUARDED.fullmatch(seen)):
        return clean_id(guarded["formula"] or guarded["plain"] or "")
    return seen


def extract_prolific_id(worker: str) -> str:
    """Return the id in an e-mail address that Prolific gives a participant; "" for other texts."""
    found = _PROLIFIC_MAIL.fullmatch(worker)
    return found.group(1).lower() if found else ""


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character."""
    # The usual case: a visible ASCII character comes first.
    if not text or "!" <= text[0] <= "~":
        return not text
    return _NOTHING.fullmatch(text) is not None


def extract_wording(question: str) -> str:
    """Return a question's id if it reads like a text (3 words or a final "?"), else ""."""
    words = [word for word in question.split() if any(c.isalpha() for c in word)]
    is_text = len(words) >= FEWEST_WORDS or question.endswith(QUESTION_MARKS)
    return question if is_text else ""


def find_id_damage(text: str) -> str:
    """Return how a spreadsheet damaged an id, as a phrase; "" if the id looks undamaged."""
    return next((cause for pattern, cause in DAMAGED if pattern.fullmatch(text)), "")


class IdCleaner:
    """Cleaner of the ids of one file; it remembers ids that were changed or look damaged."""

    def __init__(self) -> None:
        self._cleaned: dict[str, str] = {}
        self._damaged: dict[str, str] = {}

    def clean_and_record(self, raw: str) -> str:
        """Return the cleaned id; remember it if it was changed or looks damaged."""
        cleaned = clean_id(raw)
        if cleaned != raw and raw not in self._cleaned:
            written = unicodedata.normalize("NFC", raw).strip()
            if cleaned and written != cleaned:
                self._cleaned[raw] = cleaned
        if cleaned not in self._damaged and (cause := find_id_damage(cleaned)):
            self._damaged[cleaned] = cause
        return cleaned

    @property
    def n_damaged(self) -> int:
        """Number of different ids that a spreadsheet may have damaged."""
        return len(self._damaged)

    @property
    def damaged(self) -> str:
        """Up to five damaged ids with the cause of each, as text; "" if there are none."""
        return ", ".join(
            f"{name[:40]} ({cause})" for name, cause in list(self._damaged.items())[:SHOWN]
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings about ids that were cleaned or that a spreadsheet may have damaged."""
        sentences = []
        if self._cleaned:
            examples = ", ".join(
                cleaned_id[:40] for cleaned_id in dict.fromkeys(self._cleaned.values())
            )
            n_characters = sum(
                max(len(raw.strip()) - len(clean), 1) for raw, clean in self._cleaned.items()
            )
            sentences.append(
                _format_problem_text(
                    "ids_cleaned",
                    n_characters=n_characters,
                    n_ids=len(self._cleaned),
                    examples=examples[:200],
                )
            )
        if self._damaged:
            sentences.append(
                _format_problem_text("ids_damaged", n_ids=self.n_damaged, examples=self.damaged)
            )
        return sentences


def _format_problem_text(code: str, **values: object) -> str:
    """Return the reason and remedy of a problem code as one text."""
    reason, remedy, _ = PROBLEM_MESSAGES[code].texts(values)
    return f"{reason}. {remedy}".strip()
