"""Payments and decisions sent through the panel's REST API; each payment once.

A person confirms twice: the bonuses themselves, and the total that is about to be paid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.ledger import bonuses, errors, parts
from annotations.ledger.payment_lists import format_payment_lines
from annotations.ledger.sentences import PAYMENTS, SENDING
from annotations.models import PanelSession, QuestionSetVersion, Submission
from annotations.panels.client import NotDoneError, PanelClient, UnsureError
from annotations.panels.lists import PanelLists
from annotations.panels.people import (
    PanelDecision,
    load_panel_submissions,
    load_submissions_with_decisions,
)
from annotations.panels.prolific import MOST_BONUSES
from annotations.sentences import CodedError


class WhichStudyError(CodedError, ValueError):
    """Error: the panel's study from which the workers came is unknown."""

    sentences = PAYMENTS


@dataclass(slots=True)
class BonusPayer:
    """Pays a batch as bonuses on the panel, if the panel computes the same sum."""

    client: PanelClient
    study: str

    def pay_batch(self, batch: bonuses.PaymentBatch) -> str:
        """Pay all bonuses of a batch and return the panel's id of the payment.

        Raises PanelRefusedError, UnsureError.
        """
        lines = b"".join(format_payment_lines(batch)).decode()
        try:
            setup = self.client.register_bonuses(self.study, lines)
            # Exact: amounts are decimals with two places.
            cents = int(batch.total * 100)
            # The last check before money moves.
            if setup.amount not in (None, cents):
                raise NotDoneError(
                    "other_sum_noted", panel=self.client.name, noted=setup.amount, wanted=cents
                )
        except NotDoneError as error:
            raise errors.PanelRefusedError("refused_by_panel", reason=str(error)) from error
        try:
            self.client.pay_bonuses(setup.id)
        except NotDoneError as error:
            raise errors.PanelRefusedError("refused_by_panel", reason=str(error)) from error
        except UnsureError as error:
            # Stored with the unknown payments, so that a person finds them on the panel.
            error.reference = setup.id
            raise
        return setup.id


@dataclass(slots=True)
class ScreenOutPayer:
    """Pays a batch by screening workers out on the panel, each with the same amount.

    `ids` are the panel's ids of the submissions, by submission key. With `more_places`, the panel
    opens as many new places in the study.
    """

    client: PanelClient
    study: str
    ids: Mapping[int, str]
    more_places: bool = False

    def pay_batch(self, batch: bonuses.PaymentBatch) -> str:
        """Screen out and pay the workers of a batch; return the study's id.

        Raises PanelRefusedError, UnsureError.
        """
        amounts = {payment.amount for payment in batch.payments}
        if len(amounts) != 1:
            raise errors.PanelRefusedError("several_amounts")
        session_ids = [self.ids[payment.submission] for payment in batch.payments]
        try:
            self.client.screen_out_submissions(
                self.study, session_ids, amounts.pop(), more_places=self.more_places
            )
        except NotDoneError as error:
            raise errors.PanelRefusedError("refused_by_panel", reason=str(error)) from error
        return self.study


def find_study_id(version: QuestionSetVersion, study: str = "") -> str:
    """Return the panel's study id: `study` if given, else the one that all workers came from.

    Raises WhichStudyError if no worker came with a study, or if they came from several.
    """
    if study:
        return study
    sessions = PanelSession.objects.filter(submission__version=version).exclude(study_id="")
    studies = sorted(set(sessions.values_list("study_id", flat=True)))
    if len(studies) == 1:
        return studies[0]
    raise WhichStudyError("which_study", studies=studies)


def select_next_bonuses(
    version: QuestionSetVersion, round_: str | None = None
) -> list[bonuses.Payment]:
    """Return the bonuses for the next request to the panel: the oldest ones that can be sent.

    Workers of Mechanical Turk are left out. The panel does not know their ids and would refuse the
    whole list.
    """
    sendable, _ = _split_confirmed_in_round(version, round_)
    return [payment for payment in sendable if payment.panel != MTURK][:MOST_BONUSES]


def count_unsendable_bonuses(
    version: QuestionSetVersion, round_: str | None = None
) -> list[tuple[int, str]]:
    """Return (number, reason code) pairs for confirmed payments that cannot be sent."""
    sendable, held_back = _split_confirmed_in_round(version, round_)
    n_mturk = sum(payment.panel == MTURK for payment in sendable)
    counts = [(len(held_back), "held_back"), (n_mturk, "of_mturk")]
    return [(n, why) for n, why in counts if n]


def _split_confirmed_in_round(
    version: QuestionSetVersion, round_: str | None
) -> tuple[list[bonuses.Payment], list[bonuses.Payment]]:
    """Split a round's confirmed payments into those that can be sent and those held back."""
    payments = bonuses.load_payments(version, round_=round_)
    return bonuses.split_confirmed_payments(
        payment for payment in payments if bonuses.is_in_round(payment, round_)
    )


def send_bonuses(
    version: QuestionSetVersion,
    user: Any,
    client: PanelClient,
    study: str,
    total: Decimal,
    round_: str | None = None,
) -> bonuses.PaymentBatch:
    """Have the panel pay the next bonuses, if their sum is the confirmed total; return them.

    Raises the errors of `bonuses.claim_and_pay`. Raises `errors.OtherTotalError` if the
    total has changed; nothing is claimed then.
    """
    payer = BonusPayer(client, study)
    # Selected without a lock: `claim_payments` selects again under the lock and compares the total.
    keys = [payment.submission for payment in select_next_bonuses(version, round_)]
    return bonuses.claim_and_pay(
        version, user, payer, round_, most=MOST_BONUSES, total=total, submissions=keys
    )


@dataclass(frozen=True, slots=True)
class NextParts:
    """Partial payments for the next request to the panel, all of one kind.

    If the panel screens the workers out, all payments have the same amount.

    `ids` are the panel's ids of the submissions, by submission key. `n_without_id` counts workers
    who failed the practice, with an unknown submission id; a list can name them.
    """

    kind: str
    payments: tuple[bonuses.Payment, ...]
    ids: Mapping[int, str]
    n_without_id: int

    @property
    def total(self) -> Decimal:
        """Sum of the amounts, without the panel's fee."""
        return sum((payment.amount for payment in self.payments), Decimal(0))


def select_next_parts(version: QuestionSetVersion) -> NextParts:
    """Return the partial payments for the next request to the panel; empty if none is left.

    The panel screens out workers who failed the practice. Workers who failed the attention checks
    have submitted, and are paid by a list of bonuses.
    """
    waiting = [
        payment for payment in parts.select_sendable_parts(version) if payment.panel != MTURK
    ]
    kinds = parts.load_part_kinds(version)
    keys = [payment.submission for payment in waiting]
    people = load_panel_submissions(Submission.objects.filter(version=version, pk__in=keys), {})
    ids = {person.key: person.submission for person in people if person.submission}

    def lacks_submission_id(payment: bonuses.Payment) -> bool:
        """Return whether a payment needs the panel's id of the submission and it is unknown."""
        return kinds.get(payment.submission) == parts.SCREENED_OUT and payment.submission not in ids

    sendable = [payment for payment in waiting if not lacks_submission_id(payment)]
    kind = kinds.get(sendable[0].submission, parts.FAILED_CHECKS) if sendable else ""
    same_kind = [
        payment
        for payment in sendable
        if kinds.get(payment.submission, parts.FAILED_CHECKS) == kind
    ]
    # The panel's request to screen out has one amount for all.
    if kind == parts.SCREENED_OUT:
        same_kind = [payment for payment in same_kind if payment.amount == same_kind[0].amount]
    return NextParts(kind, tuple(same_kind[:MOST_BONUSES]), ids, len(waiting) - len(sendable))


def send_parts(
    version: QuestionSetVersion,
    user: Any,
    client: PanelClient,
    study: str,
    total: Decimal,
    *,
    more_places: bool = False,
) -> bonuses.PaymentBatch:
    """Have the panel pay the next partial payments, if their sum is the total; return them.

    Raises the errors of `bonuses.claim_and_pay`. Raises `errors.OtherTotalError` if the
    total has changed; nothing is claimed then.
    """
    with transaction.atomic():
        # Lock first: decisions wait, and a decision made meanwhile stops the partial payment.
        parts.lock_submissions_with_part(version)
        selected = select_next_parts(version)
        keys = [payment.submission for payment in selected.payments]
        batch = bonuses.claim_payments(version, user, bonuses.PART, total=total, submissions=keys)
    # Outside the transaction: the claim must be committed before the panel is asked.
    payer: bonuses.Payer = BonusPayer(client, study)
    if selected.kind == parts.SCREENED_OUT:
        payer = ScreenOutPayer(client, study, selected.ids, more_places)
    return bonuses.pay_claimed_batch(batch, user, payer)


@dataclass(slots=True)
class SendingReport:
    """Result of sending decisions to a panel: counts, and a message for each failed rejection.

    `problems` has a message for each rejection that failed or was not answered. Sending it again
    is safe: the panel ignores a repeated rejection.
    """

    n_approved: int = 0
    n_rejected: int = 0
    n_without_id: int = 0
    n_past: int = 0
    problems: list[str] = field(default_factory=list)

    def lines(self, *, done: bool) -> Iterator[str]:
        """Yield the lines of the report for a terminal."""
        counts = {"n_approved": self.n_approved, "n_rejected": self.n_rejected}
        yield SENDING.text("decisions_brought" if done else "decisions_to_bring", **counts)
        if self.n_without_id:
            yield SENDING.text("decisions_without_id", n=self.n_without_id)
        if self.n_past:
            yield SENDING.text("decisions_past", n=self.n_past)
        yield from self.problems


def send_decisions(
    version: QuestionSetVersion, client: PanelClient | None, *, do: bool = False
) -> SendingReport:
    """Send approvals and rejections to the panel, or only count them; return the report.

    Nothing is sent without `do`.

    The panel ignores repeated decisions, so call this again after an interruption. A failed
    rejection is reported and the others continue; errors of approvals are raised.
    """
    lists = PanelLists(version.pk, load_submissions_with_decisions(version))
    people = list(lists.select_for_prolific())
    report = SendingReport(n_past=lists.n_all_settled)
    report.n_without_id = sum(not person.submission for person in people)
    approved = [person.submission for person in people if person.submission and not person.rejected]
    rejected = [
        (person.submission, person.decision)
        for person in people
        if person.submission and person.decision
    ]
    rejected = [(key, decision) for key, decision in rejected if decision.rejected]
    if not do or client is None:
        report.n_approved, report.n_rejected = len(approved), len(rejected)
        return report
    # Approvals first: they go in few requests, and an error ends the call before any rejection.
    if approved:
        client.approve_submissions(approved)
        report.n_approved = len(approved)
    for key, decision in rejected:
        report.n_rejected += _reject_on_panel(client, key, decision, report.problems)
    return report


def _reject_on_panel(
    client: PanelClient, submission: str, decision: PanelDecision, problems: list[str]
) -> bool:
    """Reject a submission on the panel; return False and record the problem if that fails."""
    try:
        client.reject_submission(submission, decision.category, decision.message)
    except (NotDoneError, UnsureError) as error:
        problems.append(f"{submission}: {error}")
        return False
    return True
