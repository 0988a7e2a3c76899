"""Bonuses by a rule on the page: tried, planned, confirmed with the sum that was shown."""

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from annotations.exchange.prolific import describe_status
from annotations.ledger.bonuses import load_payments
from annotations.ledger.decisions import decide_on_submission
from annotations.ledger.parts import PART_REASONS
from annotations.models import BonusPayment, Collection, PanelStatus
from tests.desk.flashes import flashed, flashed_numbers
from tests.evaluation.payments.crowd import rivers
from tests.sentences import site_sentence

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
    assert "<strong>1.45</strong>GBP" in text
    (poor,) = [one for one in page.context["found"].warnings if one.code == "paying.poor"]
    assert [poor.values[name] for name in ("least", "currency", "lowest")] == [
        *("7.00", "GBP", "6.00"),
    ]
    assert site_sentence(poor.code, **poor.values) in text
    assert not BonusPayment.objects.exists()
    found = page.context["found"]
    # Seven people with four answers each, cy with one: 29 x 0.05.
    assert str(found.total) == "1.45"
    sent = RULE | {"do": "plan", "seen": found.seen}
    assert client.post(link, sent).status_code == 302
    assert client.post(link, sent).status_code == 302  # pressed twice
    assert {one.state for one in load_payments(version)} == {"planned"}
    assert len(load_payments(version)) == 8
    wrong = client.post(link, {"do": "confirm", "round": "bonus", "total": "1.44"})
    assert wrong.status_code == 409
    assert {one.state for one in load_payments(version)} == {"planned"}
    page = client.post(link, {"do": "confirm", "round": "bonus", "total": "1.45"}, follow=True)
    assert (flashed(page)[-1], flashed_numbers(page)[-2:]) == ("bonuses_confirmed", ["8", "1.45"])
    assert {one.state for one in load_payments(version)} == {"confirmed"}
    files = reverse("admin:paying", args=[version.question_set.public_id]) + "#files"
    assert f'href="{files}"' in client.get(link).content.decode()


@pytest.mark.medium
def test_a_confirmed_bonus_of_who_is_rejected_since_is_told_and_in_no_list(desk, client, rana):
    version, link = desk
    found = client.get(link, RULE).context["found"]
    client.post(link, RULE | {"do": "plan", "seen": found.seen})
    client.post(link, {"do": "confirm", "round": "bonus", "total": "1.45"})
    ada = version.submissions.get(worker__external_id="ada")
    decide_on_submission(ada, rana, "reject", "OTHER", "x" * 100)
    page = client.get(link)
    assert (page.context["n_confirmed"], page.context["n_held"]) == (7, 1)
    assert 'data-held="1"' in page.content.decode()
    taken = client.post(reverse("admin:paying-take", args=[version.question_set.public_id]))
    assert "ada" not in b"".join(taken.streaming_content).decode()


def test_who_changed_meanwhile_is_not_planned(desk, client):
    version, link = desk
    answer = client.post(link, RULE | {"do": "plan", "seen": "another"})
    assert answer.status_code == 409
    assert load_payments(version) == []


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
    page = client.post(link, {"do": "cancel", "round": "bonus", "total": "1.45"}, follow=True)
    assert (flashed(page)[-1], flashed_numbers(page)[-2:]) == ("bonuses_cancelled", ["8", "1.45"])
    assert {one.state for one in load_payments(version)} == {"cancelled"}


def with_parts(version):
    """Hal did not pass the practice, ben failed the checks; 0.40 and 0.80."""
    Collection.objects.filter(version=version).update(
        screened_out_pay="0.40", failed_checks_pay="0.80"
    )
    version.submissions.filter(worker__external_id="hal").update(state="screened_out")
    version.submissions.filter(worker__external_id="ben").update(failed_checks=True)


@pytest.mark.medium
def test_parts_of_the_pay_are_planned_confirmed_and_taken_once(desk, client):
    version, link = desk
    set_id = version.question_set.public_id
    start, take = (reverse(f"admin:{name}", args=[set_id]) for name in ("paying", "paying-take"))
    assert "data-parts=" not in client.get(start).content.decode()
    with_parts(version)
    text = client.get(start).content.decode()
    assert 'data-parts="0"' in text
    assert '?ended=failed_checks"><strong>1</strong>' in text
    assert '?ended=screened_out"><strong>1</strong>' in text
    page = client.get(link)
    parts = page.context["parts"]
    assert parts.by_kind == [
        (PART_REASONS["failed_checks"], 1, Decimal("0.80")),
        (PART_REASONS["screened_out"], 1, Decimal("0.40")),
    ]
    assert re.findall(r'data-owed="1">[^<]*: ([0-9.]+ GBP)', page.content.decode()) == [
        *("0.80 GBP", "0.40 GBP"),
    ]
    assert 'data-unknown="2"' in page.content.decode()
    assert client.post(link, {"do": "parts", "total": "1.00"}).status_code == 409
    assert load_payments(version) == []
    assert client.post(link, {"do": "parts", "total": "1.20"}).status_code == 302
    again = client.post(link, {"do": "parts", "total": "1.20"}, follow=True)  # pressed twice
    assert flashed(again)[-1] == "no_parts_left"
    assert len(load_payments(version)) == 2
    client.post(link, {"do": "confirm", "round": "part of the pay", "total": "1.20"})
    assert 'data-parts="2"' in client.get(start).content.decode()
    gone = client.post(take, follow=True)
    assert flashed(gone) == ["no_bonus_left"]
    taken = client.post(take, {"list": "prolific-screen-out"})
    assert b"".join(taken.streaming_content) == b"hal,0.40\nben,0.80\n"
    again = client.post(take, {"list": "prolific-screen-out"}, follow=True)
    assert flashed(again) == ["no_part_left"]
    ((batch, n, is_part),) = client.get(start).context["taken"]
    assert (n, is_part) == (2, True)
    there = reverse("admin:paying-list", args=[set_id, "prolific-screen-out"])
    once_more = client.get(f"{there}?batch={batch}")
    assert b"".join(once_more.streaming_content) == b"hal,0.40\nben,0.80\n"
    assert client.get(there).status_code == 404
    assert client.post(take, {"list": "log"}).status_code == 404


@pytest.mark.medium
def test_who_has_a_part_is_not_approved_with_the_others(desk, client):
    version, link = desk
    with_parts(version)
    start = reverse("admin:paying", args=[version.question_set.public_id])
    names = [row.name for row in client.get(f"{start}?ended=failed_checks").context["rows"]]
    assert names == ["ben"]
    (row,) = client.get(f"{start}?q=ben").context["rows"]
    assert row.suggestion.action == "reject"
    client.post(link, {"do": "parts", "total": "1.20"})
    text = client.get(f"{start}?q=ben").content.decode()
    part = {"amount": "0.80", "currency": "GBP", "state": "planned"}
    assert site_sentence("paying.part", **part) in text
    assert 'name="who"' not in text
    ben = version.submissions.get(worker__external_id="ben")
    PanelStatus.objects.create(submission=ben, status="SCREENED OUT", session_id="s")
    text = client.get(f"{start}?q=ben").content.decode()
    assert describe_status("SCREENED OUT") in text


@pytest.mark.medium
def test_of_several_rounds_each_button_names_its_own(desk, client):
    _, link = desk
    for round_ in ("bonus", "second"):
        seen = client.get(link, RULE).context["found"].seen
        client.post(link, RULE | {"do": "plan", "seen": seen, "round": round_})
        text = client.get(link).content.decode()
        # Of one round alone its name is there for who does not see what stands around it.
        hidden = 'Confirm 1.45 GBP<span class="cg-hidden"> of “<bdi>bonus</bdi>”</span></button>'
        assert (hidden in text) == (round_ == "bonus")
    # Seven with four answers and cy with one, twice: the same sum, another name.
    for round_ in ("bonus", "second"):
        named = f"<span> of “<bdi>{round_}</bdi>”</span></button>"
        assert re.search(f'value="confirm">[^<]*1.45 GBP{named}', text)
        assert re.search(f'value="cancel">[^<]*{named}', text)


def test_without_parts_in_the_settings_the_page_says_where_to_say_them(desk, client):
    version, link = desk
    with_parts(version)
    Collection.objects.update(screened_out_pay=None, failed_checks_pay=None)
    text = client.get(link).content.decode()
    assert 'data-state="no_parts_left" data-without="2"' in text
    settings = reverse("admin:collecting-settings", args=[version.question_set.public_id])
    assert f'href="{settings}"' in text


def test_a_bonus_is_not_called_like_parts_of_the_pay(desk, client):
    page = client.get(desk[1], RULE | {"round": "part of the pay"})
    assert page.status_code == 400
    assert page.context["form"].errors.as_data()["round"][0].code == "reserved_name"
