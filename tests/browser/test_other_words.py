"""Chromium asks models in other words: from the page of the set to the worst questions."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from tests.browser import pages
from tests.browser.working import work_away
from tests.evaluation.multiqa.world import World, rivers
from tests.sentences import site_sentence

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


@pytest.fixture
def world(transactional_db, settings, monkeypatch):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    made = World(User.objects.create_superuser("rana"))
    yield made
    made.server.close()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_models_are_asked_in_other_words_from_the_set_to_the_worst_questions(
    browser, client, live_server, world, look
):
    question_set = rivers(world.owner, variants=False)
    set_page = reverse("admin:question-set", args=[question_set.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("no model", reverse("admin:start", args=[question_set.public_id, "multiqa"]))
        assert page.locator("[data-state=no_models]").count()
        for name in ("good", "shaky", "rewriter"):
            world.model(name)
        window.look("set", set_page)
        page.locator(f"a[href$='{question_set.public_id}/run/multiqa/']").first.evaluate(
            "link => link.click()"
        )
        page.wait_for_selector("text=5 questions, 4 with accepted answers; 3 workers answered")
        page.get_by_label("good", exact=True).check()
        page.get_by_label("shaky", exact=True).check()
        page.select_option("select[name=rewriter]", label="rewriter")
        page.fill("input[name=rewordings]", "2")
        page.select_option("select[name=embedder]", "tfidf-word")
        page.locator("details:has([name=meaning]) > summary").click()
        page.fill("input[name=meaning]", "0.1")
        window.check("form")
        page.get_by_role("button", name="Count requests and cost").click()
        page.wait_for_selector("text=Requests, tokens and cost")
        window.check("foreseen")
        # Five calls of the rewriter, and five questions in three wordings to two models.
        assert page.locator("#foreseen ~ .cg-flow strong").first.inner_text() == "35"
        assert world.server.bodies == []
        page.click("text=Start the run")
        page.wait_for_url("**/runs/*/")
        window.check("waiting")
        work_away(page)
        run = question_set.latest_version().runs.get()
        assert run.state == "done", run.error
        window.look("scores", reverse("admin:results-run", args=[run.public_id]))
        assert page.locator("svg .chart-mark").count()
        told = site_sentence("multiqa.right", system="shaky", accuracy=1.0, worst=0.0, n=4)
        assert page.get_by_text(told).count()
        row = page.locator("tr:has(th:text('Worst-case accuracy'))").first
        # Four of four and none of four, with the intervals behind them.
        assert [cell.split()[0] for cell in row.locator("td").all_inner_texts()][-2:] in (
            ["100%", "0%"],
            ["good:", "shaky:"],
        )
        for title in ("Models compared", "Rewordings", "Worst questions"):
            page.click(f"nav a:text-is('{title}') >> nth=0")
            page.wait_for_selector("main h1, h1")
            window.check(title)
        first = page.locator(".results-answers > li").first
        assert "Which river flows through Basel?" in first.inner_text()
        assert "4 of 6 replies right" in first.inner_text()
        assert first.locator("text=wrong").count() == 2
        assert window.found == []
