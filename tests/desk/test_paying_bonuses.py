"""Bonuses by a rule on the page: tried, planned, confirmed with the sum that was shown."""

import pytest
from django.urls import reverse

from annotations.ledger.bonuses import payments_of
from annotations.models import BonusPayment, Collection
from tests.evaluation.paying.crowd import rivers

RULE = {"kind": "per-answer", "amount": "0.05", "round": "bonus", "least": "7.00"}


@pytest.fixture
def desk(rana, client):
    client.force_login(rana)
    version, _ = rivers(rana)
    Collection.objects.create(version=version, places=9, pay="1.00", currency="GBP")
    return version, reverse("admin:paying-bonuses", args=[version.question_set.public_id])


def test_a_rule_is_tried_planned_confirmed_and_taken_once(desk, client):
    version, link = desk
    page = client.get(link, RULE)
    text = page.content.decode()
    assert "GBP in all, without the panel’s fee" in text
    assert "less than 7.00 GBP an hour, bonus included: the lowest 6.00" in text
    assert not BonusPayment.objects.exists()
    found = page.context["found"]
    # Seven people with four answers each, cy with one: 29 x 0.05.
    assert str(found.total) == "1.45"
    sent = RULE | {"do": "plan", "seen": found.seen}
    assert client.post(link, sent).status_code == 302
    assert client.post(link, sent).status_code == 302  # pressed twice
    assert {one.state for one in payments_of(version)} == {"planned"}
    assert len(payments_of(version)) == 8
    wrong = client.post(link, {"do": "confirm", "round": "bonus", "total": "1.44"})
    assert wrong.status_code == 409
    assert {one.state for one in payments_of(version)} == {"planned"}
    client.post(link, {"do": "confirm", "round": "bonus", "total": "1.45"})
    assert {one.state for one in payments_of(version)} == {"confirmed"}
    assert "take their list to the panel" in client.get(link).content.decode()


def test_who_changed_meanwhile_is_not_planned(desk, client):
    version, link = desk
    answer = client.post(link, RULE | {"do": "plan", "seen": "another"})
    assert answer.status_code == 409
    assert payments_of(version) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"amount": "1,50"}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"amount": "1e9"}, "amount"),
        ({"kind": "quantile"}, "share"),
        ({"kind": "quantile", "share": "20"}, "kind"),  # nobody has a score
        ({"kind": "threshold", "at_least": "x"}, "at_least"),
    ],
)
def test_a_rule_that_will_not_do_is_told_beside_its_field(desk, client, change, field):
    _, link = desk
    page = client.get(link, RULE | change)
    assert page.status_code == 400
    assert field in page.context["form"].errors
    assert page.context["found"] is None


def test_cancelling_takes_away_what_was_not_sent(desk, client):
    version, link = desk
    seen = client.get(link, RULE).context["found"].seen
    client.post(link, RULE | {"do": "plan", "seen": seen})
    client.post(link, {"do": "cancel", "round": "bonus", "total": "1.45"})
    assert {one.state for one in payments_of(version)} == {"cancelled"}
