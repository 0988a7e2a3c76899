"""The payment desk in Chromium: look, approve several, reject with the draft, give a bonus."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from annotations import guards
from annotations.ledger.bonuses import payments_of
from annotations.models import Collection, Decision
from tests.browser import test_every_page as pages
from tests.evaluation.paying.crowd import rivers

pytestmark = pages.pytestmark
browser = pages.browser


@pytest.fixture
def desk(transactional_db):
    """Ten people of Rana's with what they gave cause for; the log goes with the test."""
    rana = User.objects.create_user("rana", is_staff=True)
    version, _ = rivers(rana)
    Collection.objects.create(
        version=version, places=9, pay="1.00", currency="GBP", least_hourly_pay="7.00"
    )
    yield version
    guards.remove(connection)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_people_are_approved_rejected_and_given_a_bonus(desk, browser, client, live_server, look):
    start = reverse("admin:paying", args=[desk.question_set.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("the desk", start)
        page.click("text=Approve several…")
        page.wait_for_selector("text=against whom nothing speaks")
        window.check("approve several")
        page.click("button:has-text('Approve 4 people')")
        page.wait_for_selector("text=4 people are approved")
        page.click("th >> text=ben")
        page.wait_for_selector("h1:text-is('ben')")
        page.click("summary:has-text('Reject, with a reason')")
        assert "“Tick often.”" in page.input_value("textarea")
        window.check("one person")
        page.fill("textarea", "too short")
        page.click("button[value=reject]")
        page.wait_for_selector("text=at least 100 characters")
        window.check("a reason that is too short")
        page.fill("textarea", "You answered the question that checks reading otherwise. " * 3)
        page.click("button[value=reject]")
        page.wait_for_selector("text=ben: Rejected.")
        window.look("the desk with decisions", start)
        page.click("text=Bonuses")
        page.wait_for_selector("text=by a rule")
        page.select_option("select[name=kind]", "per-answer")
        page.fill("input[name=amount]", "0.05")
        page.click("text=Show who gets it")
        page.wait_for_selector("text=What the rule would do")
        window.check("a rule tried")
        page.click("button:has-text('Plan 7 bonuses')")
        page.wait_for_selector("text=7 planned.")
        page.click("button:has-text('Confirm 1.25 GBP')")
        page.wait_for_selector("text=7 bonuses, 1.25 in all, confirmed")
        window.check("bonuses confirmed")
    assert Decision.objects.filter(kind="approve").count() == 4
    assert {one.state for one in payments_of(desk)} == {"confirmed"}
