"""The requests to a panel's REST API, and their errors; the same for all panels.

Nothing here prevents a payment from being made twice. `annotations.ledger` claims each payment
before it sends one request.
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
    """A request to a panel failed, or may have failed; `str()` says why."""

    sentences = PANEL


class NotDoneError(PanelError):
    """The panel did nothing: it was not reached, or it refused."""


class UnsureError(PanelError):
    """It is not known whether the panel did it: it did not answer in time, or failed.

    `reference` is the panel's id of the object; "" if there was none yet.
    """

    def __init__(self, code: str, reference: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.reference = reference


@dataclass(frozen=True, slots=True)
class Study:
    """A study on the panel; `pay` is what each worker gets, in hundredths of its currency.

    `pay` is None, and `currency` "", if the panel does not say.
    """

    id: str
    name: str
    status: str
    pay: int | None
    currency: str


@dataclass(frozen=True, slots=True)
class BonusSetup:
    """Bonuses that a panel has noted and not paid; `amount` is their sum, in hundredths.

    None if the panel does not say.
    """

    id: str
    amount: int | None


class PanelClient(Protocol):
    """A panel; every method raises NotDoneError or UnsureError."""

    name: str

    def study(self, study: str) -> Study:
        """Return a study."""

    def statuses(self, study: str) -> Source:
        """Return the states of a study's submissions, as the file that the panel would export."""

    def approve(self, submissions: Sequence[str]) -> None:
        """Approve submissions, by the panel's ids."""

    def reject(self, submission: str, category: str, message: str) -> None:
        """Reject a submission; the worker reads the message."""

    def set_up_bonuses(self, study: str, lines: str) -> BonusSetup:
        """Note bonuses (lines "id,amount") without paying them."""

    def pay_bonuses(self, set_up: str) -> None:
        """Pay noted bonuses. A second call pays them twice."""

    def screen_out(
        self, study: str, submissions: Sequence[str], each: Decimal, *, more_places: bool
    ) -> None:
        """End submissions as screened out, and pay `each` for each. A second call may pay twice.

        With `more_places`, the study gets as many new places.
        """

    def make_group(self, workspace: str, name: str, participants: Sequence[str]) -> str:
        """Create a group of participants to invite again; return its id."""
