"""Chromium uploads prompts, chooses models, and reads how alike the replies are."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet
from evaluation.models import LanguageModel
from tests.browser import pages
from tests.browser.working import work_away
from tests.evaluation.core.backends.chat.fake import FakeChat, said
from tests.evaluation.eloquent.test_evaluate import prompts_text

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


def replied(body):
    """A judge is told first what it is."""
    if body["messages"][0]["role"] == "system":
        return said("Both name the same rules.\n**Similarity score: 4/5**")
    return said(f"A reply to {body['messages'][-1]['content']}")


@pytest.fixture
def model(transactional_db, settings, monkeypatch):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    server = FakeChat(replied)
    owner = User.objects.create_superuser("rana")
    yield LanguageModel.objects.create(owner=owner, name="small", spec=server.spec)
    server.close()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_prompts_are_uploaded_put_to_a_model_and_shown(
    browser, client, live_server, model, tmp_path, look
):
    question_set = QuestionSet.objects.create(owner=model.owner, name="wordings")
    path = tmp_path / "prompts.json"
    path.write_text(prompts_text().replace("},\n", "}\n", 1))
    start = reverse("admin:start", args=[question_set.public_id, "eloquent"])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("empty", start)
        page.set_input_files("#prompts", path)
        page.click("text=Upload >> nth=-1")
        page.wait_for_selector("text=a comma is missing behind line 13, column 6")
        window.look("empty again", start)
        page.set_input_files("#prompts", path)
        page.check("#repair")
        page.click("text=Upload >> nth=-1")
        window.confirm_upload()
        window.look("uploaded", start)
        page.wait_for_selector("text=2 questions in 5 wordings; languages: en, sv.")
        for box in page.query_selector_all("fieldset input[type=checkbox]"):
            box.check()
        page.select_option("select[name=embedder]", "tfidf-word")
        page.click("text=Start the run")
        page.wait_for_selector("[data-state=cost_not_seen]")
        page.click("text=Start the run")
        page.wait_for_url("**/runs/*/")
        work_away(page)
        run = question_set.latest_version().runs.get()
        assert run.state == "done", run.error
        window.look("scores", reverse("admin:results-run", args=[run.public_id]))
        assert page.locator("svg .chart-mark").count()
        row = page.locator("#models + div tbody tr")
        assert row.locator("td").nth(3).inner_text() == "4.00"
        page.click("text=Texts side by side")
        page.wait_for_selector("text=A reply to Write to mother.")
        window.check("texts")
        page.click("summary >> nth=0")
        assert page.locator("text=Both name the same rules.").first.is_visible()
        # The judge saw what the page shows; the refused upload is a message and no error.
        assert window.found == []
