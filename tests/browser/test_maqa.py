"""Chromium uploads questions with several right answers, asks a model, and reads what it knows."""

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet
from evaluation.models import LanguageModel
from tests.browser import pages
from tests.browser.working import show_all, work_away
from tests.evaluation.maqa.test_run_type import PUBLISHED, World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


@pytest.fixture
def model(transactional_db, settings, monkeypatch):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    world = World()
    owner = User.objects.create_superuser("rana")
    yield LanguageModel.objects.create(owner=owner, name="small", spec=world.server.spec)
    world.server.close()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_list_is_uploaded_put_to_a_model_and_shown_with_what_it_knows(
    browser, client, live_server, model, tmp_path, look
):
    question_set = QuestionSet.objects.create(owner=model.owner, name="several")
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(PUBLISHED))
    start = reverse("admin:start", args=[question_set.public_id, "maqa"])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("empty", start)
        page.set_input_files("#questions", path)
        page.click("text=Upload >> nth=-1")
        window.confirm_upload()
        window.look("uploaded", start)
        page.wait_for_selector("text=3 questions; 3 with right answers, 2 with several.")
        page.check("fieldset input[type=checkbox]")
        page.fill("input[name=samples]", "3")
        page.select_option("select[name=embedder]", "tfidf-char")
        page.click("text=Start the run")
        page.wait_for_selector("[data-state=cost_not_seen]")
        page.click("text=Start the run")
        page.wait_for_url("**/runs/*/")
        page.wait_for_url("**/runs/*/")
        work_away(page)
        run = question_set.latest_version().runs.get()
        assert run.state == "done", run.error
        window.look("uncertainty", reverse("admin:results-run", args=[run.public_id]))
        assert page.locator("#knows").is_visible()
        assert page.locator("svg .chart-mark").count()
        assert "Verbalised confidence" in page.locator("#sure-1 + div tbody").inner_text()
        show_all(page)
        for summary in page.query_selector_all("details > summary"):
            summary.click()
        window.check("opened")
        page.click("text=Confident and wrong >> nth=0")
        page.wait_for_selector("text=Right answers: Bob Dylan.")
        assert page.locator("h3").first.inner_text().startswith("Who sang?")
        window.check("texts")
        assert window.found == []
