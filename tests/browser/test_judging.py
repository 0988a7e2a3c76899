"""Chromium asks experts whether replies mean the same; they answer by keys, go back and correct."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotations.exchange.importing import import_prompts
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet, Share
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.models import HumanJudgement
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.browser import pages
from tests.browser import test_same_meaning as same
from tests.evaluation.eloquent.test_evaluate import prompts_text

pytestmark = [*same.pytestmark, pytest.mark.long]
model = same.model


@pytest.fixture
def run(model):
    """A run that is done, and Ed and Eve, with whom its set is shared."""
    question_set = QuestionSet(owner=model.owner, name="wordings")
    import_prompts(question_set, make_bytes_source("prompts.json", prompts_text().encode()))
    for name in ("ed", "eve"):
        user = User.objects.create_user(name)
        Share.objects.create(question_set=question_set, user=user, role="expert")
    options = EloquentRunOptions(
        models=(str(model.public_id),),
        judges=(str(model.public_id),),
        embedder="tfidf-word",
        bootstrap=20,
    )
    run = runs.queue_run(question_set.latest_version(), model.owner_id, options, "eloquent")
    while work_one_turn():
        pass
    connection.close()
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


@pytest.mark.parametrize("look", pages.LOOKS)
def test_experts_are_asked_judge_by_keys_and_correct_what_they_said(
    browser, client, live_server, run, look
):
    question_set = run.version.question_set.public_id
    results = reverse("admin:results-judging", args=[run.public_id, "same-meaning"])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("nobody asked", results)
        page.click("text=Ask them")  # without an expert: refused, and said
        page.wait_for_selector("text=Who judges: Choose who judges.")
        window.said.clear()  # Chromium tells the answer 400 by itself
        for name in ("ed", "eve"):
            page.check(f"label:text-is('{name}')")
        page.fill("#id_count", "2")
        page.click("text=Ask them")
        page.wait_for_selector("text=Asked about 2 sets of replies")
        window.check("asked")
        assert window.found == []
    grades = {"ed": ("4", "1"), "eve": ("3", "1")}
    for name, keys in grades.items():
        start = reverse("admin:judging", args=[question_set])
        with pages.signed_in(browser, Client(), live_server.url, name, look) as window:
            page = window.page
            window.look("to judge", start)
            page.click("text=Begin")
            for number, key in enumerate(keys, 1):
                page.wait_for_selector(f"h1:has-text('Set of replies {number} of 2')")
                window.check("a set of replies")
                assert page.locator("blockquote").count() == 2
                assert "small" not in page.locator(".judging").inner_text()
                page.keyboard.press(key)
            page.wait_for_selector("text=Done, thank you.")
            page.click("text=Review them")
            page.click("button[data-key='5']")
            page.wait_for_url("**/judging/**")
            window.look("done", start)
            assert window.found == []
        given = HumanJudgement.objects.filter(expert__username=name).order_by("created_at")
        assert [one.grade for one in given] == [5, float(keys[1])]
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("judged", results)
        assert page.locator("text=2 of 2 judged").count() == 2
        assert page.locator("th:has-text('People with programs')").count() == 1
        window.look("scores", reverse("admin:results-run", args=[run.public_id]))
        assert page.locator("th:has-text('Mean of annotators')").count() == 1
        window.look("texts", reverse("admin:results-reply-texts", args=[run.public_id]))
        assert page.locator("mark:text-is('mum')").count() == 1
        window.look("models", reverse("admin:results-reply-models", args=[run.public_id]))
        assert page.locator("[data-state=one_model]").count() == 1
        assert window.found == []
