"""Partial payments to workers who failed the practice or the attention checks.

A partial payment belongs to a round of its own (`bonuses.PART`). The collection's settings say how
much it is, a person plans and confirms it, and it is sent once: by a list, or through the panel's
REST API.

Approved workers get the full pay, rejected workers none. Workers that the panel has settled get
their pay there. For none of them is a part planned; a part that was planned before is not sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotations.exchange.prolific import PAST_PART
from annotations.ledger import bonuses
from annotations.ledger.decisions import lock_submissions
from annotations.ledger.sentences import WHY_PART
from annotations.models import Collection, QuestionSetVersion, Submission
from annotations.panels.people import PanelSubmission, load_panel_submissions

State = Submission.State
SCREENED_OUT, FAILED_CHECKS = "screened_out", "failed_checks"
PART_REASONS = WHY_PART
"""Why a worker gets a partial payment, by its kind."""
ENDED = {
    SCREENED_OUT: Q(state=State.SCREENED_OUT),
    FAILED_CHECKS: Q(state=State.SUBMITTED, failed_checks=True),
}
"""The submissions with a right to each kind of partial payment, by how they ended."""


@dataclass(frozen=True, slots=True)
class OwedPart:
    """A partial payment owed to a worker; `kind` is the reason, such as screened out."""

    person: PanelSubmission
    kind: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class OwedParts:
    """Partial payments owed to workers, and numbers of workers without one, by reason.

    Attributes
    ----------
    owed : no partial payment is planned for them yet.
    n_without : the settings name no amount for them.
    n_decided : approved or rejected here.
    n_settled : settled on the panel.
    n_there : their partial payment exists, and is neither failed nor cancelled.
    """

    owed: tuple[OwedPart, ...]
    currency: str
    n_without: int
    n_decided: int
    n_settled: int
    n_there: int

    @property
    def total(self) -> Decimal:
        """Sum of the owed amounts, without the panel's fee."""
        return sum((part.amount for part in self.owed), Decimal(0))

    @property
    def n_unknown(self) -> int:
        """Number of owed payments to workers whose status on the panel was never imported."""
        return sum(not part.person.status for part in self.owed)

    @property
    def counts(self) -> list[tuple[str, int, Decimal]]:
        """Owed payments as (kind, number of workers, amount of each), by kind and amount."""
        counts = Counter((part.kind, part.amount) for part in self.owed)
        return [(kind, n, amount) for (kind, amount), n in sorted(counts.items())]

    @property
    def by_kind(self) -> list[tuple[str, int, Decimal]]:
        """Owed payments as (reason as text, number of workers, amount of each)."""
        return [(PART_REASONS[kind], n, amount) for kind, n, amount in self.counts]


def find_owed_parts(
    version: QuestionSetVersion, payments: Sequence[bonuses.Payment] | None = None
) -> OwedParts:
    """Return the partial payments owed to a version's workers, and counts of workers without one.

    The number of queries is constant.

    Pass all `payments` of the version if they are loaded already.
    """
    collection = Collection.objects.filter(version=version).first()
    amounts: dict[str, Decimal | None] = {
        SCREENED_OUT: collection.screened_out_pay if collection else None,
        FAILED_CHECKS: collection.failed_checks_pay if collection else None,
    }
    existing = load_current_parts(version, payments)
    owed: dict[str, list[OwedPart]] = {kind: [] for kind in ENDED}
    counts: Counter[str] = Counter()
    for person in load_panel_submissions(
        _select_collected(version).filter(_build_ended_condition())
    ):
        kind = FAILED_CHECKS if person.handed_in else SCREENED_OUT
        amount = amounts[kind]
        if person.key in existing:
            counts["there"] += 1
        elif person.decision is not None:
            counts["decided"] += 1
        elif person.status in PAST_PART:
            counts["settled"] += 1
        elif amount is None:
            counts["without"] += 1
        else:
            owed[kind].append(OwedPart(person, kind, amount))
    return OwedParts(
        tuple(chain(*owed.values())),
        collection.currency if collection else "",
        *(counts["without"], counts["decided"], counts["settled"], counts["there"]),
    )


def load_current_parts(
    version: QuestionSetVersion | int, payments: Sequence[bonuses.Payment] | None = None
) -> dict[int, bonuses.Payment]:
    """Return the partial payment of each submission by key, without failed and cancelled ones.

    Pass all `payments` of the version if they are loaded already.
    """
    parts = _load_parts(version, payments)
    return {part.submission: part for part in parts if part.state not in bonuses.ENDED_STATES}


def plan_parts(version: QuestionSetVersion, user: Any) -> bonuses.PaymentBatch:
    """Plan the owed partial payments and return them as a batch; a second call plans nothing."""
    with transaction.atomic():
        # Lock first: a decision in another transaction waits, or is already visible here.
        lock_submissions(
            list(
                _select_collected(version)
                .filter(_build_ended_condition())
                .values_list("pk", flat=True)
            )
        )
        owed = find_owed_parts(version).owed
        for kind, why in PART_REASONS.items():
            amounts = {part.person.key: part.amount for part in owed if part.kind == kind}
            if amounts:
                bonuses.plan_bonuses(version, amounts, user, bonuses.PART, why)
        planned = load_current_parts(version)
        return bonuses.PaymentBatch(
            bonuses.NO_BATCH, tuple(planned[part.person.key] for part in owed)
        )


def _load_parts(
    version: QuestionSetVersion | int, payments: Sequence[bonuses.Payment] | None
) -> list[bonuses.Payment]:
    """Return a version's partial payments, from `payments` or else from the database."""
    if payments is None:
        return bonuses.load_payments(version, round_=bonuses.PART)
    return [payment for payment in payments if payment.round == bonuses.PART]


def select_sendable_parts(
    version: QuestionSetVersion,
    payments: Sequence[bonuses.Payment] | None = None,
    people: Iterable[PanelSubmission] | None = None,
) -> list[bonuses.Payment]:
    """Return the confirmed partial payments that can be sent, the oldest first.

    Workers who were approved, rejected or paid since the planning are left out, whether here or on
    the panel. Pass all `payments` and `people` of the version if they are loaded already.
    """
    parts = _load_parts(version, payments)
    confirmed = [payment for payment in parts if payment.state == "confirmed"]
    if not confirmed:
        return []
    if people is None:
        people = load_panel_submissions(
            _select_collected(version).filter(bonus_payments__round=bonuses.PART)
        )
    settled = {
        person.key
        for person in people
        if person.collected
        and not person.withdrew
        and (person.decision is not None or person.status in PAST_PART)
    }
    return [payment for payment in confirmed if payment.submission not in settled]


def lock_submissions_with_part(version: QuestionSetVersion) -> None:
    """Lock the submissions with a partial payment, so that decisions about them wait."""
    lock_submissions(list(load_current_parts(version)), also_withdrawn=True)


def claim_parts(version: QuestionSetVersion, user: Any) -> bonuses.PaymentBatch:
    """Reserve all partial payments that can be sent, each only once, as one list."""
    with transaction.atomic():
        # Lock before selecting: a rejection made meanwhile must keep the part off the list.
        lock_submissions_with_part(version)
        keys = [part.submission for part in select_sendable_parts(version)]
        return bonuses.claim_payments(version, user, bonuses.PART, submissions=keys)


def load_panel_ids(version: QuestionSetVersion, batch: bonuses.PaymentBatch) -> Mapping[int, str]:
    """Return the panel's id for each payment of a batch, by submission key.

    These are the panel's ids of the submissions if all are known, else those of the workers.
    """
    keys = [payment.submission for payment in batch.payments]
    people = load_panel_submissions(Submission.objects.filter(version=version, pk__in=keys), {})
    # One list has ids of one type only; the panel refuses a mixture.
    by_submission = all(person.submission for person in people)
    return {person.key: person.submission if by_submission else person.name for person in people}


def load_part_kinds(version: QuestionSetVersion) -> dict[int, str]:
    """Return the kind of partial payment that each entitled submission gets, by its key."""
    return {
        key: kind
        for kind, ended in ENDED.items()
        for key in _select_collected(version).filter(ended).values_list("pk", flat=True)
    }


def _build_ended_condition() -> Q:
    """Return the query condition that a submission ended in a way that gets a partial payment."""
    return ENDED[SCREENED_OUT] | ENDED[FAILED_CHECKS]


def _select_collected(version: QuestionSetVersion) -> Any:
    """Return a version's submissions from this site, without withdrawn and erased ones."""
    return Submission.objects.filter(
        version=version,
        source=Submission.Source.COLLECTED,
        withdrawn_at=None,
        worker__erased_at=None,
    )
