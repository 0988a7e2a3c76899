"""Prolific's words: why work is rejected, and where a submission stands.

From its documentation; what a panel takes is checked here, so that no list is refused there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

from annotations.exchange.sentences import DECISIONS as REASONS

APPROVE, REJECT, OPEN = "approve", "reject", "open"
DECISIONS = (APPROVE, REJECT, OPEN)
"""What may be decided of a submission; `open` takes back what was decided before."""

CATEGORIES = {
    "TOO_QUICKLY": "Far too fast",
    "TOO_SLOWLY": "Far too slow",
    "FAILED_INSTRUCTIONS": "Did not follow the instructions",
    "INCOMP_LONGITUDINAL": "Did not finish all parts of a study in several parts",
    "FAILED_CHECK": "Failed attention checks",
    "LOW_EFFORT": "Clear low effort",
    "MALINGERING": "Did not belong to those who were asked for",
    "NO_CODE": "Came without a completion code",
    "BAD_CODE": "Came with a wrong completion code",
    "NO_DATA": "There are no answers",
    "UNSUPP_DEVICE": "Used a device that the study does not work on",
    "OTHER": "Another reason",
}
"""The panel's categories of a rejection, with what they mean."""

LEAST_MESSAGE, LONGEST_MESSAGE = 100, 1000
"""Characters of what a rejected worker reads: Prolific asks for 100, Mechanical Turk takes 1,024
in a cell that may be defused."""

UNSEEN = ("Cf", "Cc")
"""Unicode's categories of characters that nobody sees: formats, such as a zero-width space, and
controls."""

AWAITING, APPROVED, REJECTED = "AWAITING REVIEW", "APPROVED", "REJECTED"
PARTIALLY, RETURNED, TIMED_OUT = "PARTIALLY APPROVED", "RETURNED", "TIMED-OUT"
SCREENED_OUT = "SCREENED OUT"
STATUSES = (
    *("RESERVED", "ACTIVE", TIMED_OUT, AWAITING, APPROVED, RETURNED, REJECTED),
    *(SCREENED_OUT, PARTIALLY),
)
"""Where a submission stands, in the panel's own words."""

HANDED_IN = frozenset({AWAITING, APPROVED, REJECTED, PARTIALLY})
"""Those of who says to be done."""

PAST_APPROVING = frozenset({APPROVED, PARTIALLY, RETURNED, TIMED_OUT, SCREENED_OUT})
"""Those that cannot be approved any more, or need not be."""

PAST_REJECTING = frozenset({APPROVED, PARTIALLY, REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT})

PAID_A_PART = frozenset({SCREENED_OUT, PARTIALLY})
"""Those that got a part of the pay there."""

SETTLED = frozenset({APPROVED, REJECTED, *PAID_A_PART})
"""Those of whom the panel knows what becomes of their pay: none goes back to being under way."""

PAST_PART = SETTLED
"""Those that are no longer paid a part: who returned or ran out of time still may be."""


def squashed(text: str) -> str:
    """Return words of the panel's in capitals and in one: programs part them by other signs."""
    return "".join(c for c in text.upper() if c not in "-_" and not c.isspace())


_BY_SQUASHED = {squashed(name): name for name in STATUSES}


class Wrong(NamedTuple):
    """What is wrong with a decision: the field, why, what to do, and the code of the reason."""

    field: str
    why: str
    remedy: str
    code: str

    @classmethod
    def of(cls, field: str, code: str, remedy: str, /, **values: Any) -> Wrong:
        """Return it by the code of its sentence in `DECISIONS`."""
        return cls(field, REASONS.text(code, **values), remedy, code)


def status_named(text: str) -> str | None:
    """Return the status in the panel's own words, however it is spelled; None for none of them."""
    return _BY_SQUASHED.get(squashed(text))


def status_said(status: str) -> str:
    """Return where a submission stands, in words for people; "" where it is not known."""
    said = status.lower()
    return f"{said} (a part of the pay was paid there)" if status in PAID_A_PART else said


def category_named(text: str) -> str:
    """Return a category as the panel writes it: `low effort` is LOW_EFFORT."""
    return "_".join(text.upper().replace("-", " ").replace("_", " ").split())


def message_length(text: str) -> int:
    """Return how many characters of a message can be seen; blanks in a row count as one.

    So it is counted for the least: blanks are no reason, nor are characters without a width. What
    is too long is so with all of them.
    """
    seen = (c for c in text if c.isspace() or unicodedata.category(c) not in UNSEEN)
    return len(" ".join("".join(seen).split()))


def wrong_with(decision: str, category: str, reason: str) -> Iterator[Wrong]:
    """Yield what keeps a decision from being taken: by a file, a form or a program alike."""
    if decision not in DECISIONS:
        code = "decision_unknown" if decision else "decision_missing"
        remedy = f"Write {', '.join(DECISIONS[:-1])} or {DECISIONS[-1]}."
        yield Wrong.of("decision", code, remedy, text=decision[:40])
        return
    if "\0" in reason:
        yield Wrong.of("reason", "reason_not_text", "Remove it.")
    if (whole := len(reason.strip())) > LONGEST_MESSAGE:
        remedy = "Shorten it: the worker reads it on the panel."
        yield Wrong.of("reason", "reason_too_long", remedy, n=whole, most=LONGEST_MESSAGE)
    if decision != REJECT:
        if category:
            yield Wrong.of("category", "category_not_allowed", "Leave it empty.")
        return
    if category not in CATEGORIES:
        code = "category_unknown" if category else "category_missing"
        remedy = f"Write one of {', '.join(CATEGORIES)}."
        yield Wrong.of("category", code, remedy, text=category[:40])
    if (length := message_length(reason)) < LEAST_MESSAGE:
        remedy = "Write what was wrong, in words that the worker can answer to."
        yield Wrong.of("reason", "reason_too_short", remedy, least=LEAST_MESSAGE, n=length)
