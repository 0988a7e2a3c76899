"""Chromium: a single key chooses, until its user turns that off in the account; typing goes on."""

import pytest
from django.db import connection
from django.urls import reverse

from annotations import guards, writing
from tests.annotations.writing.conftest import MADE, made_world
from tests.browser import pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def world(transactional_db):
    """Vic has a problem of Wanda's to check; what is append-only is deleted at the end."""
    made = made_world()
    problem = writing.take_question(made.project, made.wanda.pk)
    writing.submit_problem(problem, MADE, 2)
    yield made
    guards.drop_triggers(connection)


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_single_keys_choose_until_they_are_turned_off(browser, client, live_server, world, look):
    (task,) = writing.list_problem_tasks(world.project, world.vic.pk).open
    address = reverse("admin:writing-check", args=[world.project.public_id, task.id])
    with pages.signed_in(browser, client, live_server.url, "vic", look) as window:
        page = window.page
        no = page.locator("#id_verdict_0")
        window.look("with keys", address)
        assert page.locator("[data-keys]").count() == 1
        page.keyboard.press("n")
        assert no.is_checked()
        page.get_by_role("main").get_by_role("link", name="your account", exact=True).click()
        window.check("the account")
        page.get_by_label("Single keys press buttons").uncheck()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Saved.").wait_for()
        window.look("without keys", address)
        assert page.locator("[data-keys]").count() == 0
        page.keyboard.press("n")
        assert not no.is_checked()
        # Typing is not a key that chooses, and a click chooses as before.
        page.locator("textarea, input[name=note]").first.fill("")
        page.locator("textarea, input[name=note]").first.press_sequentially("no y")
        assert page.locator("textarea, input[name=note]").first.input_value() == "no y"
        assert not no.is_checked()
        no.check()
        assert no.is_checked()
        assert window.found == []
