"""Prolific's rejection categories and submission statuses, and rules for decisions on pay.

They follow Prolific's documentation; a decision is checked here, so that Prolific does not refuse
the list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

from annotations.exchange.sentences import DECISIONS as REASONS

APPROVE, REJECT, OPEN = "approve", "reject", "open"
DECISIONS = (APPROVE, REJECT, OPEN)
"""Decisions on a submission; `open` revokes an earlier decision."""

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
"""Unicode's categories of invisible characters: formats (a zero-width space) and controls."""

AWAITING, APPROVED, REJECTED = "AWAITING REVIEW", "APPROVED", "REJECTED"
PARTIALLY, RETURNED, TIMED_OUT = "PARTIALLY APPROVED", "RETURNED", "TIMED-OUT"
SCREENED_OUT = "SCREENED OUT"
STATUSES = (
    *("RESERVED", "ACTIVE", TIMED_OUT, AWAITING, APPROVED, RETURNED, REJECTED),
    *(SCREENED_OUT, PARTIALLY),
)
"""Statuses of a submission, in Prolific's spelling."""

HANDED_IN = frozenset({AWAITING, APPROVED, REJECTED, PARTIALLY})
"""Statuses of submissions that the participant completed."""

# Prolific approves no submission that timed out.
PAST_APPROVING = frozenset({APPROVED, PARTIALLY, RETURNED, TIMED_OUT, SCREENED_OUT})
"""Statuses that cannot be approved any more, or need not be."""

PAST_REJECTING = frozenset({APPROVED, PARTIALLY, REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT})

PAID_A_PART = frozenset({SCREENED_OUT, PARTIALLY})
"""Statuses of submissions that Prolific paid in part."""

SETTLED = frozenset({APPROVED, REJECTED, *PAID_A_PART})
"""Statuses with a final decision on pay: none becomes active again."""

PAST_PART = SETTLED
"""Statuses that are no longer paid in part; returned and timed-out ones still may be."""


def normalise_status(text: str) -> str:
    """Return a status normalised for comparison: in capitals, without blanks, "-" and "_"."""
    return "".join(c for c in text.upper() if c not in "-_" and not c.isspace())


_STATUS_BY_KEY = {normalise_status(name): name for name in STATUSES}


class DecisionFault(NamedTuple):
    """Fault in a decision on a submission: its field, reason, remedy and code."""

    field: str
    why: str
    remedy: str
    code: str

    @classmethod
    def from_code(cls, field: str, code: str, remedy: str, /, **values: Any) -> DecisionFault:
        """Return the fault with this code; its sentence is taken from `sentences.DECISIONS`."""
        return cls(field, REASONS.text(code, **values), remedy, code)


def recognise_status(text: str) -> str | None:
    """Return the submission status that a text names, in Prolific's spelling; None if unknown."""
    return _STATUS_BY_KEY.get(normalise_status(text))


def describe_status(status: str) -> str:
    """Return a submission status in lower case; a partly paid one with a remark."""
    words = status.lower()
    return f"{words} (a part of the pay was paid there)" if status in PAID_A_PART else words


def normalise_category(text: str) -> str:
    """Return a rejection category in Prolific's spelling: "low effort" gives LOW_EFFORT."""
    return "_".join(text.upper().replace("-", " ").replace("_", " ").split())


def count_visible_characters(text: str) -> int:
    """Return the number of visible characters of a message; a run of blanks counts as one.

    The smallest length is checked with this count: blanks and characters without a width are no
    reason. The largest length is checked with all characters.
    """
    # Zero-width characters would fill up a message without a reason.
    visible = (c for c in text if c.isspace() or unicodedata.category(c) not in UNSEEN)
    return len(" ".join("".join(visible).split()))


def find_decision_faults(decision: str, category: str, reason: str) -> Iterator[DecisionFault]:
    """Yield the faults in a decision on a submission, such as a reason that is too short."""
    if decision not in DECISIONS:
        code = "decision_unknown" if decision else "decision_missing"
        remedy = f"Write {', '.join(DECISIONS[:-1])} or {DECISIONS[-1]}."
        yield DecisionFault.from_code("decision", code, remedy, text=decision[:40])
        return
    if "\0" in reason:
        yield DecisionFault.from_code("reason", "reason_not_text", "Remove it.")
    if (whole := len(reason.strip())) > LONGEST_MESSAGE:
        remedy = "Shorten it: the worker reads it on the panel."
        yield DecisionFault.from_code(
            "reason", "reason_too_long", remedy, n=whole, most=LONGEST_MESSAGE
        )
    if decision != REJECT:
        if category:
            yield DecisionFault.from_code("category", "category_not_allowed", "Leave it empty.")
        return
    if category not in CATEGORIES:
        code = "category_unknown" if category else "category_missing"
        remedy = f"Write one of {', '.join(CATEGORIES)}."
        yield DecisionFault.from_code("category", code, remedy, text=category[:40])
    if (length := count_visible_characters(reason)) < LEAST_MESSAGE:
        remedy = "Write what was wrong, in words that the worker can answer to."
        yield DecisionFault.from_code(
            "reason", "reason_too_short", remedy, least=LEAST_MESSAGE, n=length
        )
