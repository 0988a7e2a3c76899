"""What people are paid: decisions, bonuses, parts of the pay, lists."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from annotations.ledger import bonuses
from annotations.ledger.appeals import create_appeal
from annotations.ledger.decisions import decide_on_submission
from annotations.models import Collection, Submission
from evaluation.payments.storage.rules import PER_ANSWER, BonusRule, propose_bonuses
from tests.api.successes.declaration import Sent, succeeds

RULE = {"kind": PER_ANSWER, "amount": "0.05", "round": "second", "base_pay": "1.00"}


def person(world: SimpleNamespace) -> Submission:
    """Somebody who answered in Rana's set."""
    found: Submission = world.version.submissions.earliest("pk")
    return found


def planned(world: SimpleNamespace) -> None:
    """A bonus of 1.50 for somebody, which is not confirmed."""
    bonuses.plan_bonuses(world.version, {person(world).pk: Decimal("1.50")}, world.rana)


def confirmed(world: SimpleNamespace) -> None:
    """The same, confirmed."""
    planned(world)
    bonuses.confirm_payments(world.version, world.rana)


@succeeds("paying_decide")
def _(world):
    ids = {"submission_id": person(world).public_id}
    return Sent({"decision": "approve", "seen": None}, ids=ids)


@succeeds("paying_appeal_answer")
def _(world):
    one = person(world)
    decide_on_submission(
        one, world.rana, "reject", "OTHER", "The answers are about another river. " * 4
    )
    create_appeal(one, "It is the same river.")
    return Sent({"answer": "You are right.", "approve": True}, ids={"submission_id": one.public_id})


@succeeds("paying_appeal_note")
def _(world):
    one = person(world)
    Submission.objects.filter(pk=one.pk).update(source="imported")
    decide_on_submission(
        one, world.rana, "reject", "OTHER", "The answers are about another river. " * 4
    )
    return Sent({"text": "It is the same river."}, ids={"submission_id": one.public_id})


@succeeds("paying_bonus_rule")
def _(world):
    return Sent(RULE)


@succeeds("paying_bonus_plan")
def _(world):
    found = propose_bonuses(world.version, BonusRule(PER_ANSWER, Decimal("0.05")))
    return Sent(RULE | {"seen": found.seen})


@succeeds("paying_bonus_confirm")
def _(world):
    planned(world)
    return Sent({"round": "bonus", "total": "1.50"})


@succeeds("paying_bonus_cancel")
def _(world):
    planned(world)
    return Sent({"round": "bonus", "total": "1.50"})


@succeeds("paying_bonus_settle")
def _(world):
    confirmed(world)
    (one,) = bonuses.claim_payments(world.version, world.rana).payments
    said: dict[str, Any] = {"id": str(one.id), "state": "paid", "reference": "6741c0f1"}
    return Sent({"payments": [said]})


@succeeds("paying_parts_plan")
def _(world):
    Collection.objects.create(version=world.version, places=9, screened_out_pay="0.40")
    one = person(world)
    Submission.objects.filter(pk=one.pk).update(state="screened_out", source="collected")
    return Sent({"total": "0.40"})


@succeeds("paying_list_take")
def _(world):
    confirmed(world)
    return Sent({"list": "prolific-bonus"})


@succeeds("paying_decisions_send")
def _(world):
    name = person(world).worker.external_id
    return Sent({"rows": [{"worker": name, "decision": "approve", "bonus": "1.50"}]})


@succeeds("paying_statuses_send")
def _(world):
    row = {"Participant id": person(world).worker.external_id, "Status": "AWAITING REVIEW"}
    return Sent({"rows": [{"Submission id": "66a0c5f1e2b3d4a5c6e7f801"} | row]})
