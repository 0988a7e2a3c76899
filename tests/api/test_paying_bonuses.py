"""Bonuses by REST: a rule tried and planned, a round confirmed, a list taken once, settled."""

import uuid
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from annotations.ledger import bonuses, tallies
from annotations.ledger.bonuses import PART
from annotations.ledger.decisions import decide_on_submission
from annotations.models import BonusPayment
from tests.annotations.world import submission
from tests.api.paying_desk import RULE
from tests.sentences import api_sentence

pytestmark = pytest.mark.django_db

REASON = "You answered the question that checks whether it is read otherwise than it asks for. " * 2


def confirmed(desk):
    """The rule planned and confirmed: 29 answers at 0.05."""
    desk.post("bonuses/plan/", **RULE, seen=desk.seen())
    desk.post("bonuses/confirm/", round="bonus", total="1.45")


def test_a_rule_is_tried_and_nothing_is_stored(desk, rendered_messages):
    told = desk.post("bonuses/rule/", **RULE)
    assert (told["n"], told["considered"], told["total"], told["currency"]) == (8, 9, "1.45", "GBP")
    assert (told["rule"], told["base_pay"]) == ("0.05 for each answer", "1.00")
    ada = next(one for one in told["people"] if one["worker"] == "ada")
    # (1.00 + 4 x 0.05) for ten minutes
    assert (ada["amount"], ada["answers"], ada["hourly"]) == ("0.20", 4, "7.20")
    # gus, without an answer: 1.00 for ten minutes; cy with one: 1.05
    (poor,) = (one for one in rendered_messages if one.code == "paying.poor")
    assert (poor.values["below"], poor.values["least"]) == (2, "7.00")
    assert poor.values["lowest"] == "6.00"
    assert api_sentence("paying.poor", **poor.values) in told["warnings"]
    assert {one["what"] for one in told["fairness"]} >= {"language"}
    assert not BonusPayment.objects.exists()
    # Asked for otherwise than the settings say: nobody earns less than 0.01 an hour.
    assert desk.post("bonuses/rule/", **RULE, least_hourly="0.01", base_pay="2.00")["hourly"] == (
        "13.20"
    )


def test_what_was_tried_is_planned_once(desk):
    seen = desk.seen()
    planned = desk.post("bonuses/plan/", **RULE, seen=seen)
    assert planned == {"round": "bonus", "n": 8, "new": 8, "total": "1.45", "currency": "GBP"}
    assert desk.post("bonuses/plan/", **RULE, seen=seen)["new"] == 0
    assert BonusPayment.objects.count() == 8
    assert {one.reason for one in bonuses.load_payments(desk.version)} == {"0.05 for each answer"}


def test_a_rule_of_other_people_by_now_plans_nothing(desk):
    seen = desk.seen()
    decide_on_submission(desk.people["ada"], desk.rana, "reject", "OTHER", REASON)
    told = desk.post("bonuses/plan/", 409, **RULE, seen=seen)
    assert told["reason"] == "rule_changed"
    other = desk.seen()
    desk.post("bonuses/plan/", **RULE, seen=other)
    # Another amount for the same round.
    ten = RULE | {"amount": "0.10"}
    told = desk.post("bonuses/plan/", 409, **ten, seen=desk.seen(amount="0.10"))
    assert told["reason"] == "other_amount"
    assert "0.20" in told["detail"]
    assert BonusPayment.objects.count() == 7


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        *(
            ({"amount": text}, "amount", "not_an_amount")
            for text in ("1,50", "-1", "1e9", "0.005", "NaN", "", "Infinity", "١.٥")
        ),
        ({"amount": "0"}, "amount", "out_of_range"),
        ({"amount": "10000.01"}, "amount", "out_of_range"),
        ({"amount": 0.5}, "amount", "not_text"),
        ({"amount": True}, "amount", "not_text"),
        ({"amount": None}, "amount", "null"),
        ({"least_hourly": "1,50"}, "least_hourly", "not_an_amount"),
        ({"base_pay": "-1"}, "base_pay", "not_an_amount"),
        ({"kind": "everybody"}, "kind", "invalid_choice"),
        ({"kind": "quantile"}, "share", ""),
        ({"kind": "quantile", "share": 0}, "share", ""),
        ({"kind": "quantile", "share": 1.5}, "share", ""),
        ({"kind": "quantile", "share": 0.2}, "kind", ""),
        ({"kind": "threshold"}, "at_least", ""),
        ({"kind": "threshold", "at_least": 1e9}, "at_least", ""),
        ({"end": "high"}, "end", "invalid_choice"),
        ({"round": PART}, "round", "round_of_parts"),
        ({"round": "x" * 61}, "round", "max_length"),
        ({"round": ""}, "round", "blank"),
        ({"rounds": "x"}, "rounds", "unknown_key"),
        ({"amount": "10000"}, "amount", ""),
    ],
)
def test_a_rule_that_will_not_do_names_its_field(desk, change, field, code):
    for path, more in (("rule", {}), ("plan", {"seen": "x"})):
        (fault,) = desk.post(f"bonuses/{path}/", 400, **RULE | more | change)["errors"]
        assert (fault["pointer"], fault.get("code", "")) == (f"#/{field}", code)
    assert not BonusPayment.objects.exists()


def test_a_round_is_confirmed_and_cancelled_with_its_sum_alone(desk):
    desk.post("bonuses/plan/", **RULE, seen=desk.seen())
    told = desk.post("bonuses/confirm/", 409, round="bonus", total="1.44")
    assert (told["reason"], told["total"]) == ("other_total", "1.45")
    desk.post("bonuses/cancel/", 409, round="bonus", total="0")
    assert desk.states() == {"planned"}
    done = desk.post("bonuses/confirm/", round="bonus", total="1.45")
    assert done == {"round": "bonus", "state": "confirmed", "n": 8, "total": "1.45"}
    desk.post("bonuses/confirm/", 409, round="bonus", total="1.45")  # nothing is planned any more
    assert desk.states() == {"confirmed"}
    assert {one.by for one in bonuses.load_payments(desk.version)} == {"rana"}
    desk.post("bonuses/cancel/", round="bonus", total="1.45")
    assert desk.states() == {"cancelled"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"round": "part", "total": "1.45"}, "round"),
        ({"round": "bonus", "total": "1,45"}, "total"),
        ({"round": "bonus", "total": 1.45}, "total"),
        ({"round": "bonus", "total": None}, "total"),
        ({"round": "bonus"}, "total"),
    ],
)
def test_a_round_or_a_sum_that_is_none_is_refused(desk, sent, field):
    desk.post("bonuses/plan/", **RULE, seen=desk.seen())
    for do in ("confirm", "cancel"):
        (fault,) = desk.post(f"bonuses/{do}/", 400, **sent)["errors"]
        assert fault["pointer"] == f"#/{field}"
    assert desk.states() == {"planned"}


def test_payments_are_listed_filtered_counted_and_paged(desk):
    confirmed(desk)
    bonuses.plan_bonuses(desk.version, {desk.people["ada"].pk: Decimal(2)}, desk.rana, "second")
    rounds = desk.get("bonuses/rounds/").json()["results"]
    assert rounds[0] == {
        "round": "bonus", "parts": False, "currency": "GBP", "planned": "0.00", "unsent": "1.45",
        "states": [{"state": "confirmed", "n": 8, "amount": "1.45"}],
    }  # fmt: skip
    assert (rounds[1]["round"], rounds[1]["planned"]) == ("second", "2.00")
    (one,) = desk.get("bonuses/", state="planned").json()["results"]
    assert (one["worker"], one["amount"], one["round"]) == ("ada", "2.00", "second")
    assert (one["submission"], one["list"], one["by"]) == (
        str(desk.people["ada"].public_id), None, "",
    )  # fmt: skip
    assert desk.get("bonuses/", round="third").json()["results"] == []
    assert desk.get("bonuses/", state="gone").status_code == 400
    page = desk.get("bonuses/", round="bonus", state="confirmed", limit=5).json()
    # Of those on the first page one is not confirmed any more: nobody is left out of the next.
    keys = [desk.people[one["worker"]].pk for one in page["results"]]
    bonuses.claim_payments(desk.version, desk.rana, submissions=keys[:1])
    rest = desk.client.get(page["next"]).json()
    assert [len(page["results"]), len(rest["results"]), rest["next"]] == [5, 3, None]
    names = [one["worker"] for one in page["results"] + rest["results"]]
    assert len(set(names)) == 8


def test_a_list_is_taken_once_and_written_again(desk):
    desk.post("lists/", 409)
    confirmed(desk)
    taken = desk.post("lists/", 201)
    assert (taken["list"], taken["n"], taken["total"]) == ("prolific-bonus", 8, "1.45")
    assert taken["states"] == [{"state": "sent", "n": 8, "amount": "1.45"}]
    gone = desk.post("lists/", 409)
    assert (gone["reason"], gone["held_back"]) == ("nothing_left", 0)
    desk.post("lists/", 409, list="prolific-screen-out")
    desk.post("lists/", 400, list="log")
    response = desk.client.get(taken["url"])
    assert response.headers["Content-Type"].startswith("text/csv")
    text = b"".join(response.streaming_content).decode()
    assert "ada,0.20\n" in text
    assert "cy,0.05\n" in text
    assert text.count("\n") == 8
    again = desk.get(f"lists/{taken['id']}/")
    assert b"".join(again.streaming_content).decode() == text
    (listed,) = desk.get("lists/").json()["results"]
    assert listed == taken
    assert desk.get(f"lists/{uuid.uuid4()}/").status_code == 404
    assert BonusPayment.objects.filter(event="sent").count() == 8


def test_the_same_request_again_takes_no_second_list(desk):
    confirmed(desk)
    key = {"HTTP_IDEMPOTENCY_KEY": "list 1"}
    first = desk.client.post(f"{desk.link}lists/", {}, format="json", **key)
    bonuses.plan_bonuses(desk.version, {desk.people["ada"].pk: Decimal(2)}, desk.rana, "second")
    bonuses.confirm_payments(desk.version, desk.rana)
    again = desk.client.post(f"{desk.link}lists/", {}, format="json", **key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(tallies.group_by_list(bonuses.load_payments(desk.version))) == 1


def test_what_the_panel_said_is_kept_whole_or_not_at_all(desk):
    confirmed(desk)
    first, second = (str(one.id) for one in bonuses.load_payments(desk.version)[:2])

    def settle(status, *said):
        payments = [{"id": key, "state": state} for key, state in said]
        return desk.post("bonuses/settle/", status, payments=payments)

    told = settle(409, (first, "paid"))
    assert told["reason"] == told["errors"][0]["code"] == "settled_otherwise"
    desk.post("lists/", 201)
    told = settle(400, (first, "paid"), (str(uuid.uuid4()), "paid"))
    assert told["errors"][0]["pointer"] == "#/payments/1/id"
    told = settle(400, (first, "paid"), (first, "failed"))
    assert told["errors"][0]["pointer"] == "#/payments/1/id"
    settle(400, (first, "sent"))
    settle(400)
    assert desk.states() == {"sent"}
    assert settle(200, (first, "paid"), (second, "failed")) == {"new": 2, "unchanged": 0}
    assert settle(200, (first, "paid"), (second, "failed")) == {"new": 0, "unchanged": 2}
    told = settle(409, (second, "failed"), (first, "failed"))
    assert told["errors"][0]["pointer"] == "#/payments/1/id"
    states = [one.state for one in bonuses.load_payments(desk.version)[:2]]
    assert states == ["settled", "failed"]


def test_who_may_only_look_or_not_even_that_gets_nothing(desk):
    for name, status in (("vera", 403), ("otto", 404)):
        client = APIClient()
        user = User.objects.create_user(name, is_staff=name == "otto")
        if name == "vera":
            desk.version.question_set.shares.create(user=user, role="viewer")
        client.force_authenticate(user)
        for path in ("bonuses/", "bonuses/rounds/", "parts/", "lists/", "exports/log/"):
            assert client.get(desk.link + path).status_code == status, path
        for path in ("bonuses/rule/", "bonuses/plan/", "bonuses/confirm/", "bonuses/cancel/"):
            assert client.post(desk.link + path, RULE, format="json").status_code == status, path
        for path in ("bonuses/settle/", "parts/", "lists/", "decisions/", "statuses/"):
            assert client.post(desk.link + path, {}, format="json").status_code == status, path
    assert not BonusPayment.objects.exists()


@pytest.mark.medium
def test_queries_do_not_grow_with_people(desk):
    confirmed(desk)
    desk.post("lists/", 201)

    def asked():
        counts = []
        for path in ("bonuses/", "bonuses/rounds/", "parts/", "lists/"):
            with CaptureQueriesContext(connection) as queries:
                desk.get(path)
            counts.append(len(queries))
        with CaptureQueriesContext(connection) as queries:
            desk.post("bonuses/rule/", **RULE)
        return [*counts, len(queries)]

    before = asked()
    new = [submission(desk.version, f"new-{n}", panel="Prolific") for n in range(20)]
    desk.version.submissions.filter(pk__in=[one.pk for one in new]).update(
        state="submitted", submitted_at=timezone.now()
    )
    bonuses.plan_bonuses(desk.version, {one.pk: Decimal("0.05") for one in new}, desk.rana)
    assert asked() == before
