"""Costs of a collection so far and at the end, and the workers' hourly pay.

Bonuses are not included: the settings do not promise them, and the ledger records them.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery

from annotations.exchange.prolific import PAID_A_PART, REJECT, REJECTED, SETTLED
from annotations.models import BonusPayment, Collection, Decision, PanelStatus, Submission
from annotations.models.payments import PART

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class CollectionCosts:
    """Costs of a collection and pay of its workers, in its currency; `fee` is a percentage.

    Attributes
    ----------
    paid : workers who submitted and are not rejected, also if they withdrew afterwards.
    rejected : workers rejected by the panel; where the panel has not settled, workers with a
        rejection as the last decision.
    parts : workers who get partial pay, with or without a submission.
    so_far : pay, partial pay and fees of all of these; no bonuses.
    at_the_end : the same if every place is used.
    hourly : pay for an hour at the median time, without the fee; None without a positive time.
    least : the least hourly pay that the requester wants; None if not set.
    """

    currency: str
    pay: Decimal
    fee: Decimal
    paid: int
    rejected: int
    parts: int
    so_far: Decimal
    at_the_end: Decimal
    hourly: Decimal | None
    least: Decimal | None

    @property
    def handed_in(self) -> int:
        """Number of workers who submitted, including those who withdrew afterwards."""
        return self.paid + self.rejected

    @property
    def is_too_little(self) -> bool:
        """Whether the median hourly pay is below the requester's minimum."""
        return self.hourly is not None and self.least is not None and self.hourly < self.least

    def as_dict(self) -> dict[str, Any]:
        """Return costs and pay for JSON, with amounts as numbers."""
        return {
            "currency": self.currency,
            "pay": float(self.pay),
            "fee_percent": float(self.fee),
            "paid": self.paid,
            "parts": self.parts,
            "so_far": float(self.so_far),
            "at_the_end": float(self.at_the_end),
            "hourly": None if self.hourly is None else float(self.hourly),
            "hourly_by": "server",
            "least_hourly": None if self.least is None else float(self.least),
            "is_too_little": self.is_too_little,
        }


def compute_costs(
    collection: Collection, handed_in: int, places_left: int, minutes: float | None
) -> CollectionCosts | None:
    """Return the costs and hourly pay of a collection; None if no pay is set.

    `handed_in` workers have submitted and `places_left` more may; `minutes` is the median time.
    """
    if collection.pay is None:
        return None
    in_place, beside, rejected = _load_partial_payments(collection)
    paid = handed_in - rejected
    # Through `str`: a setting that was not reloaded may be a float with binary digits.
    pay, fee = Decimal(str(collection.pay)), Decimal(str(collection.panel_fee))
    each = pay * (1 + fee / 100)
    partial_pay = sum((*in_place, *beside), Decimal(0)) * (1 + fee / 100)
    hourly = _round_to_cents(pay * 60 / Decimal(str(minutes))) if minutes else None
    return CollectionCosts(
        currency=collection.currency,
        pay=pay,
        fee=fee,
        paid=paid,
        rejected=rejected,
        parts=len(in_place) + len(beside),
        so_far=_round_to_cents(each * (paid - len(in_place)) + partial_pay),
        at_the_end=_round_to_cents(each * (paid - len(in_place) + places_left) + partial_pay),
        hourly=hourly,
        least=collection.least_hourly_pay,
    )


def _load_partial_payments(collection: Collection) -> tuple[list[Decimal], list[Decimal], int]:
    """Return partial payments of submitted workers, those of other workers, and the unpaid count.

    A submitted worker gets a partial payment, in place of the pay, if the ledger has one or the
    panel reports one. Other workers are those with a partial payment in the ledger, and those
    screened out if the settings pay them. Unpaid are rejected workers without a sent payment.
    """
    version = collection.version_id
    submissions = Submission.objects.filter(version=version, source=Submission.Source.COLLECTED)
    paid_a_part, rejected, screened = _load_submission_outcomes(submissions)
    # The panel does not report the amount of a partial payment: assume that of the settings.
    usual = collection.failed_checks_pay or collection.screened_out_pay or collection.pay
    amounts: dict[int, Any] = dict.fromkeys(paid_a_part, usual)
    if collection.screened_out_pay is not None:
        amounts |= dict.fromkeys(screened, collection.screened_out_pay)
    parts, sent, in_ledger = _load_ledger_parts(version)
    handed_in = paid_a_part | in_ledger
    unpaid = rejected - sent
    amounts |= {key: part for key, part in parts.items() if key not in unpaid}
    in_place = [Decimal(str(part)) for key, part in amounts.items() if key in handed_in]
    beside = [Decimal(str(part)) for key, part in amounts.items() if key not in handed_in]
    return in_place, beside, len(unpaid)


def _load_submission_outcomes(
    submissions: QuerySet[Submission, Submission],
) -> tuple[set[int], set[int], set[int]]:
    """Return three sets of submission keys: partly paid, rejected and screened out.

    The first two were submitted. Rejected are those that the panel rejected, and those last decided
    as rejected here that the panel has not settled.
    """
    submission = {"submission": OuterRef("pk")}
    status = PanelStatus.objects.filter(**submission).order_by("-pk").values("status")[:1]
    decided = Decision.objects.filter(**submission).order_by("-pk").values("kind")[:1]
    is_settled = Q(status__in=(*PAID_A_PART, REJECTED)) | Q(decided=REJECT)
    is_screened = Q(state=Submission.State.SCREENED_OUT)
    rows = submissions.annotate(status=Subquery(status), decided=Subquery(decided)).filter(
        is_screened | Q(submitted_at__isnull=False) & is_settled
    )
    paid_a_part, rejected, screened = set(), set(), set()
    columns = ("pk", "state", "submitted_at", "status", "decided")
    for key, state, submitted_at, panel_status, decision in rows.values_list(*columns):
        if state == Submission.State.SCREENED_OUT:
            screened.add(key)
        if submitted_at is None:
            continue
        if panel_status in PAID_A_PART:
            paid_a_part.add(key)
        # A decision cannot change what the panel has settled: the lists sent to it omit these.
        elif panel_status == REJECTED or (decision == REJECT and panel_status not in SETTLED):
            rejected.add(key)
    return paid_a_part, rejected, screened


def _load_ledger_parts(version: int) -> tuple[dict[int, Decimal], set[int], set[int]]:
    """Return partial payments by submission key, the keys with a sent one, and those with any.

    The first maps the key of a submission to its amount, without failed and cancelled payments. The
    second is the set of keys with a sent payment, the third that of collected submissions that were
    submitted and ever had a payment.
    """
    ended = (BonusPayment.Event.FAILED, BonusPayment.Event.CANCELLED)
    events = BonusPayment.objects.filter(submission__version=version, round=PART)
    collected = Q(
        submission__source=Submission.Source.COLLECTED, submission__submitted_at__isnull=False
    )
    rows = list(
        events.order_by("pk").values_list(
            *("payment", "submission", "amount", "event"),
            ExpressionWrapper(collected, output_field=BooleanField()),
        )
    )
    void = {payment for payment, _, _, event, _ in rows if event in ended}
    valid = [row for row in rows if row[0] not in void]
    sent = {key for _, key, _, event, _ in valid if event == BonusPayment.Event.SENT}
    parts = {key: amount for _, key, amount, _, _ in valid}
    return parts, sent, {key for _, key, _, _, is_collected in rows if is_collected}


def _round_to_cents(amount: Decimal) -> Decimal:
    """Return an amount of money rounded half up to two decimals."""
    return amount.quantize(CENT, ROUND_HALF_UP)
