"""Chromium names a run, tries it without somebody, runs it again otherwise, and chooses one."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations import demo
from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.models import QuestionSet
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run, RunOfRecord
from evaluation.runs.background.runs import queue_run
from evaluation.runs.background.work import work_one_turn
from tests.browser import pages
from tests.browser.working import work_away

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
QUICK = AqerParameters(embedder="tfidf-char", bootstrap=20)


@pytest.fixture
def graded(transactional_db, monkeypatch):
    """The demo's answers, graded once."""
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    owner = User.objects.create_superuser("rana")
    question_set = QuestionSet(owner=owner, name="tides")
    import_passages(question_set, demo.PASSAGES)
    import_questions(question_set, demo.QUESTIONS)
    import_answers(question_set, demo.ANSWERS)
    run = queue_run(question_set.latest_version(), owner.pk, QUICK)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_run_is_named_tried_without_somebody_run_again_and_chosen(
    browser, client, live_server, graded, look
):
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("a run", reverse("admin:run", args=[graded.public_id]))

        page.click("text=Give it a name")
        page.fill("input[name=label-name]", "Plain")
        page.fill("textarea[name=label-notes]", "To begin with.")
        window.check("a name is typed")
        page.click("button:has-text('Save')")
        page.wait_for_selector("h1:has-text('Plain')")
        assert page.locator("text=To begin with.").first.is_visible()
        page.click("text=Change the name or the notes")
        page.evaluate("document.querySelector('input[name=label-name]').maxLength = 500")
        page.fill("input[name=label-name]", "x" * 121)
        page.click("button:has-text('Save')")
        page.wait_for_selector("text=Nothing is saved yet.")
        assert page.input_value("textarea[name=label-notes]") == "To begin with."
        window.said.clear()  # the browser tells the answer 400 by itself
        window.check("a name is too long")

        window.look("what to decide", reverse("admin:results-run", args=[graded.public_id]))
        page.click("text=What if without >> nth=0")
        page.wait_for_selector("#what-if")
        assert "would change places" in page.inner_text("#what-if")
        window.check("what if without")

        page.goto(f"{live_server.url}{reverse('admin:run', args=[graded.public_id])}")
        page.click("text=Run again")
        page.wait_for_selector("text=The settings are those of “Plain”")
        assert page.input_value("select[name=embedder]") == "tfidf-char"
        assert page.input_value("input[name=bootstrap]") == "20"
        window.check("the form of another run")
        page.click("summary:has-text('Against groups')")
        page.fill("textarea[name=exclude_workers]", "Quinn")
        page.click("text=Start the run")
        page.wait_for_url("**/runs/*/")
        work_away(page)
        other = Run.objects.latest("pk")
        assert other.state == "done", other.error
        assert RunOfRecord.objects.get().run == graded

        window.look("another run", reverse("admin:run", args=[other.public_id]))
        assert "without Quinn" in page.inner_text("h1")
        assert page.locator("[data-chosen=first]").is_visible()
        page.click("text=Use this run for the set")
        page.wait_for_selector("text=This is the official run")
        window.check("the official run")
        assert RunOfRecord.objects.get().run == other

        window.look("against", reverse("admin:results-against", args=[other.public_id]))
        assert "Who left (1)" in page.inner_text("main")
        assert page.locator("[data-left=excluded]").count() == 1
        window.look(
            "the set", reverse("admin:question-set", args=[graded.version.question_set.public_id])
        )
        assert page.locator(".cg-badge:has-text('official run')").count() == 1
        window.look("runs", reverse("admin:runs"))
        assert window.found == []
