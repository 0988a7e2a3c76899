"""Bonuses and decisions brought to a panel by its own interface; each payment once.

A person confirms twice: the bonuses themselves, and the sum that is about to be paid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.ledger import bonuses, parts
from annotations.ledger.handing_over import lines_of
from annotations.ledger.sentences import PAYMENTS, SENDING
from annotations.models import PanelSession, QuestionSetVersion, Submission
from annotations.panels.client import NotDoneError, PanelClient, UnsureError
from annotations.panels.lists import PanelLists
from annotations.panels.people import Told, decided_people, people_of
from annotations.panels.prolific import MOST_BONUSES
from annotations.sentences import CodedError


class WhichStudyError(CodedError, ValueError):
    """It is not known which study of the panel people came from."""

    sentences = PAYMENTS


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
                    "other_sum_noted", panel=self.client.name, noted=noted.amount, wanted=wanted
                )
        except NotDoneError as error:
            raise bonuses.PanelRefusedError("refused_by_panel", reason=str(error)) from error
        try:
            self.client.pay_bonuses(noted.id)
        except NotDoneError as error:
            raise bonuses.PanelRefusedError("refused_by_panel", reason=str(error)) from error
        except UnsureError as error:
            error.reference = noted.id
            raise
        return noted.id


@dataclass(slots=True)
class ScreenOutPayer:
    """Has a panel screen people out, each with the same part of the pay; in one request.

    `ids` are the panel's ids of the submissions, by our keys. With `more_places` as many others may
    take part there.
    """

    client: PanelClient
    study: str
    ids: Mapping[int, str]
    more_places: bool = False

    def pay(self, batch: bonuses.Batch) -> str:
        """Return the study. Raises PanelRefusedError, UnsureError."""
        amounts = {one.amount for one in batch.payments}
        if len(amounts) != 1:
            raise bonuses.PanelRefusedError("several_amounts")
        named = [self.ids[one.submission] for one in batch.payments]
        try:
            self.client.screen_out(self.study, named, amounts.pop(), more_places=self.more_places)
        except NotDoneError as error:
            raise bonuses.PanelRefusedError("refused_by_panel", reason=str(error)) from error
        return self.study


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
    raise WhichStudyError("which_study", studies=found)


def to_send(version: QuestionSetVersion, round_: str | None = None) -> list[bonuses.Payment]:
    """Return the payments that the next list would hold: the oldest that may be sent.

    Of people of Mechanical Turk none: the panel does not know their ids, and would refuse all.
    """
    waiting = _confirmed(version, round_).sendable
    return [one for one in waiting if one.panel != MTURK][:MOST_BONUSES]


def left_out(version: QuestionSetVersion, round_: str | None = None) -> list[tuple[int, str]]:
    """Return how many confirmed payments no list of these has, and why, as a code of `SENDING`."""
    confirmed = _confirmed(version, round_)
    n_of_mturk = sum(one.panel == MTURK for one in confirmed.sendable)
    found = [(len(confirmed.held_back), "held_back"), (n_of_mturk, "of_mturk")]
    return [(n, why) for n, why in found if n]


def _confirmed(version: QuestionSetVersion, round_: str | None) -> bonuses.Confirmed:
    there = bonuses.payments_of(version, round_=round_)
    return bonuses.confirmed(one for one in there if bonuses.is_of(one, round_))


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
    keys = [one.submission for one in to_send(version, round_)]
    return bonuses.pay(
        version, user, payer, round_, most=MOST_BONUSES, total=total, submissions=keys
    )


@dataclass(frozen=True, slots=True)
class NextParts:
    """The parts of the pay of one request: of one kind, and where it screens out of one amount.

    `ids` are the panel's ids of the submissions, by our keys; `n_without_id` are people who did not
    pass the practice and of whom it is not known: a list can name them.
    """

    kind: str
    payments: tuple[bonuses.Payment, ...]
    ids: Mapping[int, str]
    n_without_id: int

    @property
    def total(self) -> Decimal:
        """The sum, without the panel's fee."""
        return sum((one.amount for one in self.payments), Decimal(0))


def next_parts(version: QuestionSetVersion) -> NextParts:
    """Return what the next request about parts would pay, nothing where none is left.

    Who did not pass the practice is screened out there; who failed the attention checks has handed
    in, and is paid as by a list of bonuses.
    """
    waiting = [one for one in parts.to_send(version) if one.panel != MTURK]
    kinds = parts.kinds_of(version)
    keys = [one.submission for one in waiting]
    people = people_of(Submission.objects.filter(version=version, pk__in=keys), {})
    ids = {one.key: one.submission for one in people if one.submission}

    def is_nameless(one: bonuses.Payment) -> bool:
        return kinds.get(one.submission) == parts.SCREENED_OUT and one.submission not in ids

    named = [one for one in waiting if not is_nameless(one)]
    kind = kinds.get(named[0].submission, parts.FAILED_CHECKS) if named else ""
    of_kind = [one for one in named if kinds.get(one.submission, parts.FAILED_CHECKS) == kind]
    if kind == parts.SCREENED_OUT:
        of_kind = [one for one in of_kind if one.amount == of_kind[0].amount]
    return NextParts(kind, tuple(of_kind[:MOST_BONUSES]), ids, len(waiting) - len(named))


def send_parts(
    version: QuestionSetVersion,
    user: Any,
    client: PanelClient,
    study: str,
    total: Decimal,
    *,
    more_places: bool = False,
) -> bonuses.Batch:
    """Have the panel pay the next parts (`next_parts`), whose sum a person has said; each once.

    Raises what `bonuses.pay` does, and `bonuses.OtherTotalError` where the sum is another: nothing
    is claimed then.
    """
    with transaction.atomic():
        # Who decides of them waits, and who was approved or rejected meanwhile is paid no part.
        parts.hold(version)
        found = next_parts(version)
        keys = [one.submission for one in found.payments]
        batch = bonuses.claim(version, user, bonuses.PART, total=total, submissions=keys)
    payer: bonuses.Payer = PanelPayer(client, study)
    if found.kind == parts.SCREENED_OUT:
        payer = ScreenOutPayer(client, study, found.ids, more_places)
    return bonuses.hand_over(batch, user, payer)


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
        counts = {"n_approved": self.n_approved, "n_rejected": self.n_rejected}
        yield SENDING.text("decisions_brought" if done else "decisions_to_bring", **counts)
        if self.n_without_id:
            yield SENDING.text("decisions_without_id", n=self.n_without_id)
        if self.n_past:
            yield SENDING.text("decisions_past", n=self.n_past)
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
    sent = Sent(n_past=lists.n_all_past)
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
