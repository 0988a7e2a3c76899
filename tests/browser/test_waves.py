"""Waves in Chromium: ask again, publish, compare; two files linked; the models of last month."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from annotations.exchange.importing import import_answers
from annotations.models import QuestionSet
from evaluation.models import LLMResponse
from tests.browser import pages
from tests.evaluation import fact_world
from tests.evaluation.fact_world import graded, written
from tests.evaluation.waves.wave_world import rows, two_waves

pytestmark = [*pages.pytestmark, pytest.mark.long]
HEADER = ("worker", "question", "answer")


@pytest.fixture
def rana(transactional_db, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    cache.clear()
    return User.objects.create_user("rana", is_staff=True)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_set_is_asked_again_published_and_compared(
    rana, tmp_path, browser, client, live_server, look
):
    before, after = two_waves(rana, tmp_path)
    start = reverse("admin:question-set", args=[before.version.question_set.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("the set", start)
        page.click(".set-tabs a[href='#people']")
        page.click("h3 >> text=Ask again")
        page.wait_for_selector("h1:has-text('Ask again')")
        window.check("ask again")
        page.fill("input[name=name]", "")
        page.click("text=Make the new wave")
        page.wait_for_selector("[role=alert]")
        window.said.clear()  # Chromium reports every 400 as an error of the console
        window.check("a wave without a name")
        page.fill("input[name=name]", "cables in June")
        page.check("input[name=with_models]")
        page.click("text=Make the new wave")
        page.wait_for_selector("text=The new wave is ready.")
        window.check("the new wave")
        page.click(".set-tabs a[href='#people']")
        page.click("a:text-is('Earlier wave')")
        page.wait_for_selector("text=The models' answers are here already.")
        window.check("what it has in common with the wave before")
        page.click("text=Take the link away")
        page.wait_for_selector("text=Nothing was changed.")
        window.said.clear()
        window.check("a wave for the same people keeps its link")
        june = QuestionSet.objects.get(name="cables in June")
        assert LLMResponse.objects.filter(question__version__question_set=june).count() == 4
        window.look("publish it", reverse("admin:collecting-settings", args=[june.public_id]))
        page.click("main button[type=submit], form .cg-primary")
        page.wait_for_selector("text=People answer")
        window.check("it is published")
        compare = reverse("admin:results-run", kwargs={"run": after.public_id})
        window.look("results of the second wave", compare)
        page.click("nav a:text-is('More')")
        page.click("a:text-is('Compare with an earlier wave')")
        page.get_by_role("heading", name="The crowd's answers, now and before").wait_for()
        window.check("both waves")
        assert page.locator(".cg-badge:text-is('moved')").count() == 1
        assert page.locator("td:text-is('the same as then')").count() == 2
        with page.expect_download() as told:
            page.click("#questions >> text=All as CSV")
        assert "moved_beyond_chance" in told.value.path().read_text(encoding="utf-8-sig")
        assert "\n".join(window.found) == ""


@pytest.mark.parametrize("look", pages.LOOKS)
def test_two_files_are_linked_as_waves_and_the_models_brought_along(
    rana, tmp_path, browser, client, live_server, look
):
    alone = QuestionSet.objects.create(owner=rana, name="lakes")
    import_answers(
        alone, written(tmp_path / "l.csv", HEADER, [("ada", "l1", "deep")]), create_questions=True
    )
    place = reverse("admin:question-set", args=[alone.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("a set alone", place)
        page.click(".set-tabs a[href='#people']")
        page.click("text=Link it with an earlier wave")
        page.wait_for_selector("text=There is no other set to link it with.")
        window.check("no other set")
        march = fact_world.asked(rana, tmp_path)
        april = QuestionSet(owner=rana, name="cables in April")
        import_answers(april, written(tmp_path / "a.csv", HEADER, rows()), create_questions=True)
        graded(march)
        lonely = graded(april)
        window.look("not linked", reverse("admin:results-waves", kwargs={"run": lonely.public_id}))
        assert page.locator("[data-state=no_earlier_wave]").count() == 1
        window.look("link", reverse("admin:link-wave", args=[april.public_id]))
        page.select_option("select[name=earlier]", label="lakes")
        page.click("text=See how they match")
        page.wait_for_selector("text=no question in common")
        window.said.clear()
        window.check("no common question")
        page.select_option("select[name=earlier]", label="cables")
        page.click("text=See how they match")
        page.wait_for_selector("text=3 questions of both")
        window.check("how they match")
        page.click("text=Link as the wave before")
        page.wait_for_selector("text=This set is a later wave of “cables” now.")
        window.check("linked")
        address = reverse("admin:results-waves", kwargs={"run": lonely.public_id})
        window.look("no model in the later wave", address)
        page.click("text=take their answers along")
        page.wait_for_selector("text=can come along")
        page.click('button:has-text("Take the models\' answers along")')
        page.wait_for_selector("text=4 answers of 2 models copied.")
        window.check("the models came along")
        again = graded(april)
        address = reverse("admin:results-waves", kwargs={"run": again.public_id})
        window.look("last month's models", address)
        assert page.locator("td:text-is('the same as then')").count() == 2
        window.look("link", reverse("admin:link-wave", args=[april.public_id]))
        page.click("text=Take the link away")
        page.wait_for_selector("text=is not the wave before any more")
        window.check("unlinked")
        assert "\n".join(window.found) == ""
