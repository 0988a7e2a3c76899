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
    """Error of a request to a panel: it failed, or its result is unknown."""

    sentences = PANEL


class NotDoneError(PanelError):
    """Error of a request that the panel certainly did not execute."""


class UnsureError(PanelError):
    """Error of a request that the panel may have executed, because no clear reply came.

    `reference` is the panel's id of the object; "" if there was none yet.
    """

    def __init__(self, code: str, reference: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.reference = reference


@dataclass(frozen=True, slots=True)
class Study:
    """A study on the panel; `pay` is the reward per worker in hundredths of the currency.

    `pay` is None, and `currency` "", if the panel does not state it.
    """

    id: str
    name: str
    status: str
    pay: int | None
    currency: str


@dataclass(frozen=True, slots=True)
class BonusSetup:
    """Bonuses registered on the panel but not paid; `amount` is their sum in hundredths.

    None if the panel does not state it.
    """

    id: str
    amount: int | None


class PanelClient(Protocol):
    """Interface of a client for a panel's REST API.

    Every method raises `NotDoneError` or `UnsureError`.
    """

    name: str

    def load_study(self, study: str) -> Study:
        """Return the panel's study with this id."""

    def load_statuses(self, study: str) -> Source:
        """Return the statuses of a study's submissions in the format of the panel's export."""

    def approve_submissions(self, submissions: Sequence[str]) -> None:
        """Approve submissions, given by the panel's ids."""

    def reject_submission(self, submission: str, category: str, message: str) -> None:
        """Reject a submission, given by the panel's id; the worker reads the message."""

    def register_bonuses(self, study: str, lines: str) -> BonusSetup:
        """Register bonuses (lines "id,amount") on the panel without paying them."""

    def pay_bonuses(self, set_up: str) -> None:
        """Pay registered bonuses; a second call would pay them twice."""

    def screen_out_submissions(
        self, study: str, submissions: Sequence[str], each: Decimal, *, more_places: bool
    ) -> None:
        """Screen out submissions and pay each the same amount; a second call may pay twice.

        With `more_places`, the study gets as many new places.
        """

    def create_group(self, workspace: str, name: str, participants: Sequence[str]) -> str:
        """Create a group of participants on the panel for a later study; return its id."""
