"""Chromium uploads problems, asks two models, and reads who notices that there is no answer."""

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet
from evaluation.models import LanguageModel
from tests.browser import pages
from tests.browser.working import show_all, work_away
from tests.evaluation.core.backends.chat.fake import FakeChat
from tests.evaluation.umwp.world import PROBLEMS, lines, replied
from tests.numbers import numbers_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
# So many that the replies have several pages.
MORE = [{**PROBLEMS[2], "id": f"x{number}", "relevant_ids": [1]} for number in range(30)]


@pytest.fixture
def models(transactional_db, settings, monkeypatch):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    server = FakeChat(replied)
    owner = User.objects.create_superuser("rana")
    for name, size, tuning in (("small", "135M", "instruct"), ("large", "7B", "base")):
        spec = server.spec.replace("small", name)
        LanguageModel.objects.create(owner=owner, name=name, spec=spec, size=size, tuning=tuning)
    yield owner
    server.close()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_problems_are_uploaded_asked_and_every_reply_is_explained(
    browser, client, live_server, models, tmp_path, look
):
    question_set = QuestionSet.objects.create(owner=models, name="problems")
    path, bad = tmp_path / "problems.jsonl", tmp_path / "bad.jsonl"
    path.write_bytes(lines([*PROBLEMS, *MORE]))
    bad.write_text(json.dumps({**PROBLEMS[0], "category": 3}) + "\n")
    start = reverse("admin:start", args=[question_set.public_id, "umwp"])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("empty", start)
        page.set_input_files("#problems", bad)
        page.click("text=Upload >> nth=-1")
        page.wait_for_selector("text=it is answerable, but has category 3")
        window.look("empty again", start)
        page.set_input_files("#problems", path)
        page.click("text=Upload >> nth=-1")
        window.confirm_upload()
        window.look("uploaded", start)
        page.wait_for_selector("text=3 answerable questions, 32 unanswerable.")
        for box in page.query_selector_all("fieldset input[type=checkbox]"):
            box.check()
        page.uncheck("input[name=in_context]")
        page.click("summary >> nth=-1")
        page.fill("input[name=encoder]", "tfidf-char")
        page.fill("input[name=threshold]", "0.8")
        page.click("text=Start the run")
        page.wait_for_selector("[data-state=cost_not_seen]")
        page.click("text=Start the run")
        page.wait_for_url("**/runs/*/")
        work_away(page)
        run = question_set.latest_version().runs.get()
        assert run.state == "done", run.error
        window.look("noticing", reverse("admin:results-run", args=[run.public_id]))
        second = page.locator("#form-direct + ul li").nth(1).inner_text()
        assert second.startswith("small ")
        assert numbers_in(second)[:2] == ["32", "32"]
        assert page.locator("svg .chart-mark").count()
        show_all(page)
        page.click("#parts ~ details summary")
        window.check("parts")
        page.click("text=Replies >> nth=0")
        page.wait_for_selector("article >> text=unanswerable question answered")
        window.check("replies")
        assert page.locator("article").count() == 25
        show_all(page)
        page.click("text=Next page")
        page.wait_for_selector("text=Page 2 of 6")
        page.select_option("#choose-model", "small")
        page.select_option("#choose-outcome", "gave_up")
        page.click("form[role=search] button")
        page.wait_for_selector("mark:has-text('It cannot be determined')")
        window.check("chosen")
        assert page.locator("article").count() == 2
        assert window.found == []
