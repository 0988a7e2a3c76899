"""Bonuses and decisions brought to a panel by its own interface; each payment once.

A person confirms twice: the bonuses themselves, and the sum that is about to be paid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotations.ledger import bonuses
from annotations.ledger.handing_over import lines_of
from annotations.models import PanelSession, QuestionSetVersion
from annotations.panels.client import NotDoneError, PanelClient, UnsureError
from annotations.panels.lists import PanelLists
from annotations.panels.people import Told, decided_people
from annotations.panels.prolific import MOST_BONUSES


class WhichStudyError(ValueError):
    """It is not known which study of the panel people came from."""


@dataclass(slots=True)
class PanelPayer:
    """Brings a batch to a panel: sets it up, compares the sum, and has it paid."""

    client: PanelClient
    study: str

    def pay(self, batch: bonuses.Batch) -> str:
        """Return the panel's id of the list. Raises PanelRefusedError, UnsureError."""
        lines = b"".join(lines_of(batch)).decode()
        try:
            noted = self.client.set_up_bonuses(self.study, lines)
            wanted = int(batch.total * 100)
            if noted.amount not in (None, wanted):
                raise NotDoneError(
                    f"{self.client.name} noted {noted.amount} hundredths where {wanted} are to be "
                    "paid; nothing was paid"
                )
        except NotDoneError as error:
            raise bonuses.PanelRefusedError(str(error)) from error
        try:
            self.client.pay_bonuses(noted.id)
        except NotDoneError as error:
            raise bonuses.PanelRefusedError(str(error)) from error
        except UnsureError as error:
            error.reference = noted.id
            raise
        return noted.id


def study_of(version: QuestionSetVersion, named: str = "") -> str:
    """Return the panel's study of a version: the one named, else that from which all came.

    Raises WhichStudyError where nobody came with one, or people came from several.
    """
    if named:
        return named
    came = PanelSession.objects.filter(submission__version=version).exclude(study_id="")
    found = sorted(set(came.values_list("study_id", flat=True)))
    if len(found) == 1:
        return found[0]
    came_from = f"people came from several: {', '.join(found[:5])}" if found else "nobody said"
    raise WhichStudyError(f"say which study of the panel it is ({came_from})")


def to_send(version: QuestionSetVersion, round_: str | None = None) -> list[bonuses.Payment]:
    """Return the payments that the next list would hold: the oldest confirmed."""
    waiting = [
        one
        for one in bonuses.payments_of(version)
        if one.state == "confirmed" and round_ in (None, one.round)
    ]
    return waiting[:MOST_BONUSES]


def send_bonuses(
    version: QuestionSetVersion,
    user: Any,
    client: PanelClient,
    study: str,
    total: Decimal,
    round_: str | None = None,
) -> bonuses.Batch:
    """Pay the next list (`to_send`), whose sum a person has said.

    Raises what `bonuses.pay` does, and `bonuses.OtherTotalError` where the sum is another: nothing
    is claimed then.
    """
    payer = PanelPayer(client, study)
    return bonuses.pay(version, user, payer, round_, most=MOST_BONUSES, total=total)


@dataclass(slots=True)
class Sent:
    """What became of decisions that were brought to a panel.

    `unsure` are rejections to which it did not answer: bringing them again changes nothing there.
    """

    n_approved: int = 0
    n_rejected: int = 0
    n_without_id: int = 0
    n_past: int = 0
    problems: list[str] = field(default_factory=list)

    def lines(self, *, done: bool) -> Iterator[str]:
        """The report for a terminal, a line each."""
        word = "brought to the panel" if done else "to bring to the panel"
        yield f"{self.n_approved:,} approvals and {self.n_rejected:,} rejections {word}"
        if self.n_without_id:
            yield (
                f"left out: {self.n_without_id:,} whose submission's id is not known here: take in "
                "where submissions stand first"
            )
        if self.n_past:
            yield f"left out: {self.n_past:,} of whom the panel takes nothing any more"
        yield from self.problems


def send_decisions(
    version: QuestionSetVersion, client: PanelClient | None, *, do: bool = False
) -> Sent:
    """Approve and reject on the panel what was decided here; without `do` only count.

    The panel ignores what it was told before, so after an interruption it is simply done again.
    What one rejection runs into is told, and the others go on. Raises what approving does.
    """
    lists = PanelLists(version.pk, decided_people(version))
    named = list(lists.for_prolific())
    sent = Sent(n_past=lists.n_past)
    sent.n_without_id = sum(not person.submission for person in named)
    approved = [one.submission for one in named if one.submission and not one.rejected]
    rejected = [(one.submission, one.told) for one in named if one.submission and one.told]
    rejected = [(key, told) for key, told in rejected if told.rejected]
    if not do or client is None:
        sent.n_approved, sent.n_rejected = len(approved), len(rejected)
        return sent
    if approved:
        client.approve(approved)
        sent.n_approved = len(approved)
    for key, told in rejected:
        sent.n_rejected += _reject(client, key, told, sent.problems)
    return sent


def _reject(client: PanelClient, submission: str, told: Told, problems: list[str]) -> bool:
    try:
        client.reject(submission, told.category, told.message)
    except (NotDoneError, UnsureError) as error:
        problems.append(f"{submission}: {error}")
        return False
    return True
