"""The payment desk in Chromium: look, approve several, reject with the draft, give a bonus."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotations import guards
from annotations.answering import collecting, links, places
from annotations.ledger.bonuses import PART, ROUND, load_payments
from annotations.ledger.decisions import decide_on_submission
from annotations.models import AppealAnswer, Collection, Decision, Submission
from annotations.panels.groups import create_panel_group
from tests.annotations.answering.conftest import made_set
from tests.browser import pages
from tests.evaluation.grading.results.world import finished
from tests.evaluation.payments.crowd import rivers

pytestmark = pages.pytestmark


@pytest.fixture
def desk(transactional_db):
    """Ten people of Rana's with what they gave cause for; the log goes with the test."""
    rana = User.objects.create_user("rana", is_staff=True)
    version, _ = rivers(rana)
    Collection.objects.create(
        version=version, places=9, pay="1.00", currency="GBP", least_hourly_pay="7.00",
        screened_out_pay="0.40",
    )  # fmt: skip
    version.submissions.filter(worker__external_id="hal").update(state="screened_out")
    yield version
    guards.drop_triggers(connection)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_people_are_approved_rejected_and_given_a_bonus(desk, browser, client, live_server, look):
    start = reverse("admin:paying", args=[desk.question_set.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("the desk", start)
        page.click("text=Approve several…")
        page.wait_for_selector("text=without a reason against approval")
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
        page.click("button:has-text('Plan 1 part, 0.40 GBP')")
        page.wait_for_selector("text=1 planned.")
        page.click("button:has-text('Confirm 0.40 GBP')")
        page.wait_for_selector("text=1 part of the pay, 0.40 in all, confirmed")
        window.look("the desk with parts", start)
        with page.expect_download() as told:
            page.click("text=Take the list of parts")
        assert told.value.path().read_text() == "hal,0.40\n"
        window.look("the desk after the parts were taken", start)
        page.wait_for_selector("text=A list of 1 part of the pay again")
    assert Decision.objects.filter(kind="approve").count() == 4
    states = {(one.round, one.state) for one in load_payments(desk)}
    assert states == {(ROUND, "confirmed"), (PART, "sent")}


@pytest.fixture
def graded(transactional_db):
    """Raw scores .65, .5875, .525, .4625 and .40, of the last too few answers to say."""
    yield finished(5, owner=User.objects.create_user("rana", is_staff=True)).version
    guards.drop_triggers(connection)  # who asked for a group goes with the test


class Made:
    """A panel that makes every group."""

    def create_group(self, *asked):
        return "6a2b"


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_the_best_are_counted_and_their_ids_downloaded(graded, browser, client, live_server, look):
    start = reverse("admin:paying", args=[graded.question_set.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("the desk", start)
        page.click("text=Invite the best again")
        page.wait_for_url("**/invite/")
        window.check("nothing counted yet")
        page.fill("input[name=at_least]", "")
        page.click("button:text-is('Count them')")
        page.wait_for_selector("text=No workers were counted.")
        window.said.clear()  # the console tells that the answer was 400
        window.check("no score said")
        page.fill("input[name=at_least]", "0.5")
        page.click("button:text-is('Count them')")
        page.wait_for_selector("text=Who could be invited")
        window.check("counted")
        with page.expect_download() as told:
            page.click("text=Download 3 ids")
        assert told.value.path().read_text() == "w001\nw002\nw003\n"
        page.fill("input[name=at_least]", "0.9")
        page.click("button:text-is('Count them')")
        page.wait_for_selector("text=No worker reaches that score.")
        window.check("nobody")
        create_panel_group(
            graded.question_set, graded.question_set.owner, Made(), "w", "best", ["w001"]
        )
        page.reload()
        page.wait_for_selector("text=made, 6a2b")
        window.check("a group on the panel")
        assert window.found == []


@pytest.fixture
def rejected(transactional_db):
    """Ada, who answered Rana's questions here and was rejected."""
    rana = User.objects.create_user("rana", is_staff=True)
    made = collecting.publish_question_set(made_set(rana), places=3, protocol="open").collection
    ada = places.reserve_place(made, links.Visitor("ada"))
    Submission.objects.filter(pk=ada.pk).update(state="submitted", submitted_at=timezone.now())
    decide_on_submission(
        ada, rana, "reject", "LOW_EFFORT", "Three of the four answers are empty. " * 3
    )
    yield ada
    guards.drop_triggers(connection)


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_a_rejected_worker_writes_back_and_reads_the_answer(
    rejected, browser, client, live_server, look
):
    place = [links.build_submission_token(rejected)]
    start = reverse("admin:paying", args=[rejected.version.question_set.public_id])
    width, scheme = pages.WINDOWS[look]
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    worker = pages.Inspector(context, live_server.url)
    page = worker.page
    worker.look("thanks of who is rejected", reverse("worker:thanks", args=place))
    page.click("text=Write back")
    page.wait_for_selector("textarea")
    worker.check("the rejection")
    page.click("button:text-is('Send')")
    page.wait_for_selector("[role=alert]")
    worker.said.clear()  # Chromium reports every 400 as an error of the console
    worker.check("nothing was written")
    page.fill("textarea", "I wrote all of them, on my telephone.")
    page.click("button:text-is('Send')")
    page.wait_for_selector("text=Your text was sent.")
    worker.check("sent")
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        window.look("the desk with an appeal", start)
        window.page.click("text=Wrote back: answer")
        window.page.wait_for_selector("h1:text-is('ada')")
        window.check("the appeal")
        window.page.fill("textarea[name=answer]", "We had the wrong file. Thank you.")
        window.page.click("text=Answer and approve")
        window.page.wait_for_selector("text=Answered, and approved.")
        window.check("answered")
        assert window.found == []
    worker.look("the answer", reverse("worker:decision", args=place))
    page.wait_for_selector("text=We had the wrong file.")
    assert page.locator("text=Your work is approved now.").count() == 1
    assert worker.found == []
    context.close()
    assert AppealAnswer.objects.get().approval == Decision.objects.get(kind="approve")
