"""What a panel can be asked by its own interface, and what may come of it; one form for all.

Nothing here pays by itself: `annotations.ledger` claims a payment before it asks, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from annotations.exchange.reading.source import Source
from annotations.panels.sentences import PANEL
from annotations.sentences import CodedError


class PanelError(CodedError, RuntimeError):
    """What was asked of a panel came to nothing, or perhaps to nothing; `str()` says it."""

    sentences = PANEL


class NotDoneError(PanelError):
    """The panel did nothing: it was not reached, or it said no."""


class UnsureError(PanelError):
    """Nobody here knows whether it did: it did not answer in time, broke off, or failed.

    `reference` is the panel's id of what was asked for, "" where there was none yet.
    """

    def __init__(self, code: str, reference: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.reference = reference


@dataclass(frozen=True, slots=True)
class Study:
    """A study as the panel has it; `pay` is what each person gets, in hundredths of its currency.

    None, and "", where the panel does not say.
    """

    id: str
    name: str
    status: str
    pay: int | None
    currency: str


@dataclass(frozen=True, slots=True)
class SetUp:
    """Bonuses that a panel has noted and not paid; `amount` is their sum, in hundredths.

    None where the panel does not say.
    """

    id: str
    amount: int | None


class PanelClient(Protocol):
    """A panel; every method raises NotDoneError or UnsureError."""

    name: str

    def study(self, study: str) -> Study:
        """Return a study."""

    def statuses(self, study: str) -> Source:
        """Return where the submissions of a study stand, as the file the panel would export."""

    def approve(self, submissions: Sequence[str]) -> None:
        """Approve submissions, by the panel's ids."""

    def reject(self, submission: str, category: str, message: str) -> None:
        """Reject one; the worker reads the message."""

    def set_up_bonuses(self, study: str, lines: str) -> SetUp:
        """Note bonuses ("id,amount" a line) without paying them."""

    def pay_bonuses(self, set_up: str) -> None:
        """Pay what was set up. Twice pays twice."""

    def screen_out(
        self, study: str, submissions: Sequence[str], each: Decimal, *, more_places: bool
    ) -> None:
        """End submissions as screened out, and pay each of them so much. Twice may pay twice.

        With `more_places` as many others may take part.
        """

    def make_group(self, workspace: str, name: str, participants: Sequence[str]) -> str:
        """Make a group of participants to recruit again; return its id."""
