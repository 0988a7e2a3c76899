"""Chromium asks an expert to check a run: invited, signed in, judged by keys, and read."""

import os
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotations.models import Share
from evaluation.models import HumanJudgement
from tests.browser import pages
from tests.evaluation.grading.results import world
from tests.numbers import numbers_in

pytestmark = [*pages.pytestmark, pytest.mark.long]
# Where to keep pictures, for somebody who wants to look at them.
PICTURES = os.environ.get("CROWDGRADE_PICTURES", "")


@pytest.fixture
def run(transactional_db):
    """A run that is done, and Ed, who has never signed in."""
    User.objects.create_user("ed")
    rana = User.objects.create_user("rana", is_staff=True)
    return world.finished(owner=rana, n_workers=12, n_questions=8)


def keep(window, look, name):
    if PICTURES:
        window.page.screenshot(path=Path(PICTURES) / f"{look}-{name}.png", full_page=True)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_requester_has_an_expert_check_the_grades(browser, client, live_server, run, look):
    site = live_server.url
    audit = reverse("admin:results-audit", args=[run.public_id])
    sharing = reverse("admin:sharing", args=[run.version.question_set.public_id])
    decision = reverse("admin:results-decision", args=[run.public_id])
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        window.look("sharing", sharing)
        page.fill("#id_username", "ed")
        page.select_option("#id_role", "expert")
        page.click("button:text-is('Share')")
        page.wait_for_selector("text=ed is invited as expert")
        window.check("invited")
        keep(window, look, "invited")
        window.look("nobody asked", audit)
        assert page.locator("[data-expert=invited]").count() == 1
        keep(window, look, "before")
        assert window.found == []
    home = reverse("admin:index")
    with pages.signed_in(browser, Client(), site, "ed", look) as window:
        page = window.page
        window.look("an invitation", home)
        keep(window, look, "invitation")
        page.click("button:text-is('Accept')")
        page.wait_for_selector("text=You accepted to")
        window.look("nothing to judge", home)
        keep(window, look, "empty-inbox")
        assert window.found == []
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        window.look("decide", decision)
        page.click("text=Let an expert grade 20 answers")
        page.click("button:text-is('Ask them')")  # without an expert: refused, said at its place
        page.wait_for_selector("text=Choose who grades.")
        window.said.clear()  # Chromium says that the answer was 400
        window.check("refused")
        page.check("label:text-is('ed')")
        page.check("text=Every fourth is a model's answer")
        page.fill("#id_count", "28")
        page.click("button:text-is('Ask them')")
        page.wait_for_selector("text=Asked about 28 answers")
        window.check("asked")
        keep(window, look, "asked")
        assert window.found == []
    with pages.signed_in(browser, Client(), site, "ed", look) as window:
        page = window.page
        window.look("inbox", home)
        keep(window, look, "inbox")
        page.click("a:text-is('Judge')")
        for number in range(1, 29):
            page.wait_for_selector(f"h1:has-text('Answer {number} of 28')")
            if number in (1, 3):
                window.check("an answer")
                keep(window, look, f"answer-{number}")
            if number == 3:  # the second was a slip
                page.keyboard.press("u")
                page.wait_for_selector("text=Taken back")
                page.wait_for_selector("h1:has-text('Answer 2 of 28')")
                page.keyboard.press(grade_of(page))
                page.wait_for_selector("h1:has-text('Answer 3 of 28')")
            if number == 5:  # a half more: two keys, and Escape takes the first one back
                page.keyboard.press("h")
                page.wait_for_selector("text=A half more: now the digit, or Escape.")
                keep(window, look, "half")
                page.keyboard.press("Escape")
                page.wait_for_selector(".judging-begun:text-is('')")
                page.keyboard.press("h")
                page.keyboard.press("3")
                continue
            page.keyboard.press("1" if number == 2 else grade_of(page))
        page.wait_for_selector("text=Done, thank you.")
        window.check("done")
        keep(window, look, "done")
        window.look("inbox, all done", home)
        window.look("sets", reverse("admin:question-sets"))
        assert page.locator("text=28 of 28 judged").count() == 1
        assert window.found == []
    assert HumanJudgement.objects.count() == 28
    assert HumanJudgement.objects.filter(grade=3.5).count() == 1
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        window.look("what came", audit)
        keep(window, look, "came")
        said = page.locator(".trust-verdict").inner_text()
        assert numbers_in(said)[0] == "21"
        assert page.locator("text=28 of 28 graded").count() == 1
        window.look("trust", reverse("admin:results-trust", args=[run.public_id]))
        assert page.locator("#experts >> text=their grades correlate").count() == 1
        window.look("decide", decision)
        keep(window, look, "decide")
        window.look("runs", reverse("admin:runs"))
        assert page.locator("text=28 of 28 judged").count() == 1
        assert window.found == []

    settled_by_a_third(browser, client, site, run, look)


def settled_by_a_third(browser, client, site, run, look):
    """Eve graded the same and differs on two answers; Mo settles them by keys, and Rana reads."""
    eve, mo = (User.objects.create_user(name) for name in ("eve", "mo"))
    for user in (eve, mo):
        Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    for at, one in enumerate(HumanJudgement.objects.filter(expert__username="ed").order_by("pk")):
        apart = 0.5 if at > 1 else 3
        HumanJudgement.objects.create(
            expert=eve,
            response=one.response,
            llm_response=one.llm_response,
            grade=one.grade - apart if one.grade >= apart else one.grade + apart,
        )
    audit = reverse("admin:results-audit", args=[run.public_id])
    experts = reverse("admin:results-experts", args=[run.public_id])
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        window.look("what experts disagree on", audit)
        assert "On 2 of 28 answers" in page.locator("section:has(#settle)").inner_text()
        page.select_option("#settles", label="mo")
        keep(window, look, "disagree")
        page.click("text=Ask to settle")
        page.wait_for_selector("text=Asked to settle 2 answers")
        assert window.found == []
    with pages.signed_in(browser, Client(), site, "mo", look) as window:
        page = window.page
        window.look("inbox of a third", reverse("admin:index"))
        page.click("a:text-is('Judge')")
        for number in (1, 2):
            page.wait_for_selector(f"h1:has-text('Answer {number} of 2')")
            assert "The graders are not shown." in page.locator(".judging").inner_text()
            window.check("to settle")
            keep(window, look, f"settle-{number}")
            page.keyboard.press("h")
            page.keyboard.press("2")
        page.wait_for_selector("text=Done, thank you.")
        assert window.found == []
    assert HumanJudgement.objects.filter(expert=mo, grade=2.5).count() == 2
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        window.look("settled", audit)
        assert "2 of them are settled" in page.locator("section:has(#settle)").inner_text()
        window.look("what experts say", experts)
        keep(window, look, "experts")
        assert page.locator("#means").count() == 1
        assert "graded by 2 experts" in page.locator("section:has(#agree)").inner_text()
        assert window.found == []


def grade_of(page):
    """A grade by who is named in the answer: in this world worker 1 is the best."""
    text = page.locator("blockquote").inner_text()
    worker = re.search(r"w(\d+)", text)
    return "3" if worker is None else str(max(0, 5 - int(worker[1]) // 2))
