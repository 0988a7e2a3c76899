"""A page of results is at most four screens before "Show all", at a desk and on a phone."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Run
from tests.browser.pages import LOOKS, readable, signed_in
from tests.evaluation.grading.results import world as graded

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
SCREENS = "document.documentElement.scrollHeight / window.innerHeight"
# Sheets of paper, made to be printed: all of it is there.
PRINTED = ("admin:results-summary",)


@pytest.fixture
def run(transactional_db, settings):
    """The results of 60 people on 30 questions, with 3 models."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    owner = User.objects.create_superuser("rana")
    made = graded.finished(n_workers=60, n_questions=30, n_models=3, owner=owner)
    Run.objects.create(owner=owner, version=made.version)  # another one, which pages link to
    return made


# The decision has a chart of the best workers and of those to look at.
LONGER = {"admin:results-run": 4.5}


@pytest.mark.parametrize("look", LOOKS)
def test_a_page_of_results_is_four_screens_until_all_is_asked_for(
    run, client, browser, live_server, look
):
    pages = {
        name: address
        for name, address in readable(client, run)
        if name.startswith("admin:results-") and name not in PRINTED
    }
    assert len(pages) >= 10
    long, folded = [], []
    with signed_in(browser, client, live_server.url, "rana", look) as inspector:
        page = inspector.page
        for name, address in pages.items():
            page.goto(live_server.url + address)
            screens = page.evaluate(SCREENS)
            if screens > LONGER.get(name, 4):
                long.append(f"{name}: {screens:.1f} screens")
            button = page.get_by_role("button", name="Show all", exact=True)
            if button.count():
                folded.append(name)
                inspector.check(name)
                button.focus()
                page.keyboard.press("Enter")
                assert page.evaluate(SCREENS) > screens
                assert page.locator(".folded").count() == 0
                page.reload()  # who asked for all keeps all
                assert page.evaluate(SCREENS) > screens
    assert long == []
    assert "admin:results-people" in folded
    assert inspector.found == []


def test_an_address_of_a_part_that_is_folded_shows_it(run, client, browser, live_server):
    address = reverse("admin:results-people", kwargs={"run": run.public_id})
    with signed_in(browser, client, live_server.url, "rana", "narrow-dark") as inspector:
        page = inspector.page
        page.goto(live_server.url + address)
        hidden = page.evaluate("document.querySelector('.folded [id], .folded[id]').id")
        page.goto(f"{live_server.url}{address}?by=dispersion#{hidden}")
        assert page.locator(f"[id='{hidden}']").is_visible()
