"""Interface of the clients of panels' REST APIs, and the errors of their requests.

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
    """A request to a panel failed, or may have failed; `str()` gives the reason."""

    sentences = PANEL


class NotDoneError(PanelError):
    """The panel did nothing, because it was not reached or refused the request."""


class UnsureError(PanelError):
    """It is unknown whether the panel executed the request: it failed or did not answer in time.

    `reference` is the panel's id of the object; "" if there was none yet.
    """

    def __init__(self, code: str, reference: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.reference = reference


@dataclass(frozen=True, slots=True)
class Study:
    """Study on the panel; `pay` is per worker, in hundredths of the currency.

    `pay` is None, and `currency` "", if the panel does not state it.
    """

    id: str
    name: str
    status: str
    pay: int | None
    currency: str


@dataclass(frozen=True, slots=True)
class BonusSetup:
    """Bonuses registered on the panel and not paid yet; `amount` is their sum, in hundredths.

    None if the panel does not state it.
    """

    id: str
    amount: int | None


class PanelClient(Protocol):
    """Interface of a panel's client; every method raises NotDoneError or UnsureError."""

    name: str

    def study(self, study: str) -> Study:
        """Return the study with this id on the panel."""

    def statuses(self, study: str) -> Source:
        """Return the states of a study's submissions, in the format of the panel's export."""

    def approve(self, submissions: Sequence[str]) -> None:
        """Approve submissions, named by the panel's ids."""

    def reject(self, submission: str, category: str, message: str) -> None:
        """Reject a submission (its id on the panel); the worker reads the message."""

    def set_up_bonuses(self, study: str, lines: str) -> BonusSetup:
        """Register bonuses (lines "id,amount") on the panel without paying them."""

    def pay_bonuses(self, set_up: str) -> None:
        """Pay registered bonuses; a second call pays them twice."""

    def screen_out(
        self, study: str, submissions: Sequence[str], each: Decimal, *, more_places: bool
    ) -> None:
        """Screen submissions out and pay each the amount `each`; a second call may pay twice.

        With `more_places`, the study gets as many new places.
        """

    def make_group(self, workspace: str, name: str, participants: Sequence[str]) -> str:
        """Create a group of participants on the panel, to invite them again; return its id."""
