"""Chromium uploads graded answers, has all methods tried, and reads which one to trust."""

import pytest
from django.urls import reverse

from evaluation.evidence.graded import run as running
from evaluation.models import Run
from evaluation.runs.background.work import work_one_turn
from tests.browser import pages, test_runs
from tests.evaluation.evidence.graded.answers import of_workers, some
from tests.evaluation.runs.run_types.graded.test_run import content

graded = test_runs.graded
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_graded_answers_are_uploaded_and_the_trust_page_says_which_method_to_trust(
    browser,
    client,
    live_server,
    graded,
    look,
    monkeypatch,
    tmp_path,
):
    few = some("aqer", "f1", "tfidf_char", "discrimination", "reference_answer")
    monkeypatch.setattr(running, "list_methods", lambda core: few)
    file = tmp_path / "mine.csv"
    file.write_bytes(content(of_workers(10, 10)))
    trust = reverse("admin:results-trust", args=[graded.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("trust without a file", trust)
        page.click("text=Upload graded answers")
        page.wait_for_selector("text=There are no graded answers yet")
        window.check("nothing to try on")
        page.set_input_files("input[name=graded]", file)
        page.click("button:has-text('Upload')")
        page.wait_for_selector("text=100 graded answers of 10 workers to 10 questions")
        window.check("uploaded")
        start = reverse("admin:start", args=[graded.version.question_set.public_id, "graded"])
        window.look("the start", f"{start}?embedder=tfidf-char")
        page.click("button:has-text('Start the run') >> nth=0")
        page.wait_for_selector("text=Queued.")
        while work_one_turn():
            pass
        run = Run.objects.get(kind="graded")
        assert run.state == "done", run.error
        window.look("the results", reverse("admin:results-run", args=[run.public_id]))
        assert page.locator("[data-method=undefined]").first.is_visible()
        window.look("trust with a file", trust)
        page.click("text=Show all methods")
        window.check("all methods")
        assert page.locator("th:has-text('tfidf_char')").is_visible()
