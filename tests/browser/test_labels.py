"""Chromium: people label replies blindly, and the run tells how far the classifier agrees."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from annotations.exchange.importing import import_answers, import_word_problems
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet, Share
from evaluation.models import LanguageModel
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.browser import pages
from tests.evaluation.core.backends.chat.fake import FakeChat
from tests.evaluation.umwp.world import UNKNOWN, lines, options, replied

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


def work():
    try:
        while work_one_turn():
            pass
    finally:
        connection.close()


@pytest.fixture
def run(transactional_db, settings, monkeypatch):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    owner = User.objects.create_user("rana", is_staff=True)
    question_set = QuestionSet(owner=owner, name="problems")
    import_word_problems(question_set, make_bytes_source("problems.jsonl", lines()))
    people = f"worker,question,answer\nann,1,55\nann,3,{UNKNOWN}\nben,1,55\n"
    import_answers(question_set, make_bytes_source("answers.csv", people.encode()))
    for name in ("ed", "eva"):
        user = User.objects.create_user(name)
        Share.objects.create(question_set=question_set, user=user, role="expert")
    server = FakeChat(replied)
    model = LanguageModel.objects.create(owner=owner, name="small", spec=server.spec)
    made = runs.queue_run(question_set.latest_version(), owner.pk, options(model), "umwp")
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    made.refresh_from_db()
    assert made.state == "done", made.error
    yield made
    server.close()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_replies_are_labelled_by_keys_and_compared(browser, client, live_server, run, look):
    shown = reverse("admin:results-page", kwargs={"run": run.public_id, "slug": "people"})
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("nobody labelled", shown)
        assert "All participants" in page.inner_text("body")
        page.click("text=Invite annotators")
        page.fill("input[name=count]", "3")
        for name in ("ed", "eva"):
            page.check(f"label:text-is('{name}')")
        page.click("text=Ask them")
        page.wait_for_selector("text=Asked about 3 replies")
        window.check("asked")
        found = window.found
    start = reverse("admin:judging", args=[run.version.question_set.public_id])
    for name in ("ed", "eva"):
        with pages.signed_in(browser, client, live_server.url, name, look) as window:
            page = window.page
            window.look(f"{name} begins", start)
            page.click("text=Begin")
            page.wait_for_selector("text=Does this reply say that the problem has no answer?")
            window.check(f"{name} labels")
            assert "small" not in page.inner_text("main, body").split()
            for key in ("y", "n", "c"):
                with page.expect_navigation():
                    page.keyboard.press(key)
            page.wait_for_selector("text=Done, thank you.")
            found += window.found
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        window.look("labelled", shown)
        assert "2 annotators labelled 3 replies." in window.page.inner_text("body")
        found += window.found
    assert "\n".join(found) == ""
