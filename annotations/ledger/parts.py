"""Parts of the pay: of who did not pass the practice, and of who failed the attention checks.

A part is a payment of a round of its own (`bonuses.PART`): the settings of the collection say how
much it is, a person plans and confirms it, and it is sent once, by a list or by the panel's own
interface. Whom somebody approved gets the whole pay, whom somebody rejected none; whom the panel
has settled got there what they get. None of them is planned, and none is sent where that came
after the planning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotations.exchange.prolific import PAST_PART
from annotations.ledger import bonuses
from annotations.ledger.deciding import locked
from annotations.ledger.sentences import WHY_PART
from annotations.models import Collection, QuestionSetVersion, Submission
from annotations.panels.people import Person, people_of, standing, told_of

State = Submission.State
SCREENED_OUT, FAILED_CHECKS = "screened_out", "failed_checks"
WHY = WHY_PART
ENDED = {
    SCREENED_OUT: Q(state=State.SCREENED_OUT),
    FAILED_CHECKS: Q(state=State.SUBMITTED, failed_checks=True),
}
"""Who gets which part, if any: by how their way ended."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part that somebody could be paid; `kind` is a key of `WHY`."""

    person: Person
    kind: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Parts:
    """Who could be paid a part now, and why others are not.

    Attributes
    ----------
    owed : nothing is planned of them yet. n_without : the settings say no part for them.
    n_decided : approved or rejected here. n_settled : settled on the panel.
    n_there : they have one in the ledger that is neither failed nor cancelled.
    n_unknown : of those who are owed, where they stand on the panel was never taken in.
    """

    owed: tuple[Part, ...]
    currency: str
    n_without: int
    n_decided: int
    n_settled: int
    n_there: int

    @property
    def total(self) -> Decimal:
        """The sum, without the panel's fee."""
        return sum((one.amount for one in self.owed), Decimal(0))

    @property
    def n_unknown(self) -> int:
        """Of how many who are owed nobody knows here where they stand on the panel."""
        return sum(not one.person.status for one in self.owed)

    @property
    def counts(self) -> list[tuple[str, int, Decimal]]:
        """The kind, how many people and how much each, of each kind that somebody is owed."""
        counts = Counter((one.kind, one.amount) for one in self.owed)
        return [(kind, n, amount) for (kind, amount), n in sorted(counts.items())]

    @property
    def by_kind(self) -> list[tuple[str, int, Decimal]]:
        """Why, how many people and how much each, of each kind that somebody is owed."""
        return [(WHY[kind], n, amount) for kind, n, amount in self.counts]


def parts_of(version: QuestionSetVersion) -> Parts:
    """Return who could be paid a part; the number of queries does not hang on the people."""
    collection = Collection.objects.filter(version=version).first()
    amounts: dict[str, Decimal | None] = {
        SCREENED_OUT: collection.screened_out_pay if collection else None,
        FAILED_CHECKS: collection.failed_checks_pay if collection else None,
    }
    told, there = told_of(standing(version)), standing_parts(version)
    owed: list[Part] = []
    counts: Counter[str] = Counter()
    for kind, ended in ENDED.items():
        amount = amounts[kind]
        for person in people_of(_ended(version).filter(ended), told):
            if person.key in there:
                counts["there"] += 1
            elif person.told is not None:
                counts["decided"] += 1
            elif person.status in PAST_PART:
                counts["settled"] += 1
            elif amount is None:
                counts["without"] += 1
            else:
                owed.append(Part(person, kind, amount))
    return Parts(
        *(tuple(owed), bonuses.currency_of(version), counts["without"], counts["decided"]),
        *(counts["settled"], counts["there"]),
    )


def standing_parts(version: QuestionSetVersion | int) -> dict[int, bonuses.Payment]:
    """Return the part of each submission that has one, neither failed nor cancelled, by its key."""
    found = bonuses.payments_of(version, round_=bonuses.PART)
    return {one.submission: one for one in found if one.state not in bonuses.OVER}


def plan_parts(version: QuestionSetVersion, user: Any) -> bonuses.Batch:
    """Plan a part for everybody who is owed one; a second time nothing is new."""
    with transaction.atomic():
        # Who decides of them waits, and who decided meanwhile is seen.
        locked(list(_ended(version).filter(_any_end()).values_list("pk", flat=True)))
        owed = parts_of(version).owed
        for kind, why in WHY.items():
            amounts = {one.person.key: one.amount for one in owed if one.kind == kind}
            if amounts:
                bonuses.plan(version, amounts, user, bonuses.PART, why)
        there = standing_parts(version)
        return bonuses.Batch(bonuses.NO_BATCH, tuple(there[one.person.key] for one in owed))


def to_send(version: QuestionSetVersion) -> list[bonuses.Payment]:
    """Return the confirmed parts that may be sent, the oldest first.

    Left out is who was approved or rejected since, here or on the panel, or was paid there.
    """
    found = bonuses.payments_of(version, round_=bonuses.PART)
    waiting = [one for one in found if one.state == "confirmed"]
    if not waiting:
        return []
    with_part = _ended(version).filter(bonus_payments__round=bonuses.PART)
    past = {
        one.key
        for one in people_of(with_part, told_of(standing(version)))
        if one.told is not None or one.status in PAST_PART
    }
    return [one for one in waiting if one.submission not in past]


def hold(version: QuestionSetVersion) -> None:
    """Make who decides of people with a part wait; within a transaction."""
    locked(list(standing_parts(version)), also_withdrawn=True)


def claim_parts(version: QuestionSetVersion, user: Any) -> bonuses.Batch:
    """Take all parts that may be sent, for a list: nobody else gets any of them, at no time."""
    with transaction.atomic():
        hold(version)
        keys = [one.submission for one in to_send(version)]
        return bonuses.claim(version, user, bonuses.PART, submissions=keys)


def panel_ids(version: QuestionSetVersion, batch: bonuses.Batch) -> Mapping[int, str]:
    """Return the ids in a list of parts, by the keys of submissions.

    The panel's ids of the submissions where all are known, else those of the people.
    """
    keys = [one.submission for one in batch.payments]
    found = people_of(Submission.objects.filter(version=version, pk__in=keys), {})
    by_submission = all(one.submission for one in found)
    return {one.key: one.submission if by_submission else one.name for one in found}


def kinds_of(version: QuestionSetVersion) -> dict[int, str]:
    """Return how the ways ended of those who may be paid a part, by the keys of submissions."""
    return {
        key: kind
        for kind, ended in ENDED.items()
        for key in _ended(version).filter(ended).values_list("pk", flat=True)
    }


def _any_end() -> Q:
    return ENDED[SCREENED_OUT] | ENDED[FAILED_CHECKS]


def _ended(version: QuestionSetVersion) -> Any:
    return Submission.objects.filter(
        version=version,
        source=Submission.Source.COLLECTED,
        withdrawn_at=None,
        worker__erased_at=None,
    )
