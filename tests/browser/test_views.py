"""Chromium puts all views together, reads what they say, a model's page and single answers."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.consensus.parameters import AqerParameters
from evaluation.model_overview.messages import QUESTIONS
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.browser import pages
from tests.browser.working import show_all, work_away
from tests.evaluation.model_overview.asked import Server, ask_all, prepare
from tests.evaluation.model_overview.world import LINES, rivers_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


@pytest.fixture
def rivers(transactional_db, settings, monkeypatch, tmp_path):
    """A graded set, of which nobody looked at anything else."""
    settings.RUN_KINDS = [*settings.RUN_KINDS, *LINES]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    rivers = rivers_of(User.objects.create_superuser("rana"), tmp_path)
    parameters = AqerParameters(embedder="tfidf-word", bootstrap=0)
    runs.queue_run(rivers.latest_version(), rivers.owner_id, parameters)
    while work_one_turn():
        pass
    return rivers


@pytest.fixture
def asked(rivers, settings):
    """Runs of every kind that tells views, with models that a server of ours is."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    server = Server()
    prepare(rivers, server)
    yield ask_all(rivers)
    server.chat.close()


def put_together(window, rivers):
    """Start a run from the page of the set, let a worker do it, and return it."""
    page = window.page
    window.look("set", reverse("admin:question-set", args=[rivers.public_id]))
    page.click(".set-tabs a[href='#analyses']")
    page.click("h3 >> text=Model overview")
    window.check("start")
    page.click("text=Start the run")
    page.wait_for_url("**/runs/*/")
    work_away(page)
    run = Run.objects.filter(kind="views").latest("pk")
    assert run.state == "done", run.error
    window.look("all views", reverse("admin:results-run", args=[run.public_id]))
    return run


@pytest.mark.parametrize("look", pages.LOOKS)
def test_all_views_are_put_together_and_read(browser, client, live_server, rivers, asked, look):
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        put_together(window, rivers)
        assert page.get_by_text(QUESTIONS["uncertainty_distance"]).first.is_visible()
        assert page.locator("svg[data-columns] .chart-mark:visible").count() >= 12 * 3 * 4
        page.click("#models + .cg-table-wrap >> text=Elk >> nth=0")
        page.wait_for_selector("text=Does it know that it does not know?")
        window.check("model")
        assert page.locator("text=100% of 12").first.is_visible()
        assert page.locator("text=Not evaluated yet").count() == 0
        page.click("text=Its answers one by one")
        page.wait_for_selector("text=1 to 12 of 12 answers")
        window.check("answers")
        page.select_option("#model", "")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_selector("text=1 to 36 of 36 answers")
        show_all(page)
        with page.expect_download() as download:
            page.click("text=as XLSX")
        assert download.value.suggested_filename.endswith(".xlsx")
        assert window.found == []


@pytest.mark.parametrize("look", pages.LOOKS)
def test_what_nobody_looked_at_is_offered_as_a_button(browser, client, live_server, rivers, look):
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        put_together(window, rivers)
        assert page.locator("h2#next").is_visible()
        page.click("#models + .cg-table-wrap >> text=Elk >> nth=0")
        page.wait_for_selector("text=Not evaluated yet:")
        window.check("model")
        page.click("a.cg-button >> text=Steady")
        page.wait_for_selector("text=Start the run")
        assert window.found == []
