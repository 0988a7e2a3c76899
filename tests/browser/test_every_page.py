"""Pages that show the demo, in every state: accessible, not too wide, the console silent.

Forms and lists, the same whatever a site holds, are looked at by `test_every_route`.
"""

import pytest
from django.urls import reverse

from crowdgrade import demo
from evaluation.models import Run
from tests.browser import pages
from tests.browser.pages import PAGE_LOOKS, Inspector, readable, signed_in

pytestmark = pages.pytestmark
SHOWING = ("admin:results", "admin:run", "admin:question", "admin:worker", "admin:paying")
EMPTY = [
    *("admin:index", "admin:question-sets", "admin:question-set-new", "admin:runs"),
    *("admin:models", "admin:model-new", "admin:prompts", "admin:prompt-new"),
    *("admin:teams", "admin:password_change"),
]


@pytest.mark.parametrize("look", PAGE_LOOKS)
@pytest.mark.long
def test_every_page_is_accessible_fits_and_keeps_its_console_silent(
    world, client, browser, live_server, look
):
    found = {name: address for name, address in readable(client, world) if name.startswith(SHOWING)}
    assert len(found) >= 40
    for run in Run.objects.exclude(state="done"):
        for name in ("admin:run", "admin:results-run"):
            key = "run_id" if name == "admin:run" else "run"
            found[f"{name} {run.state}"] = reverse(name, kwargs={key: run.public_id})
    with signed_in(browser, client, live_server.url, demo.USERNAME, look) as inspector:
        for name, address in found.items():
            inspector.look(name, address)
    assert "\n".join(inspector.found) == ""


@pytest.mark.parametrize("look", PAGE_LOOKS)
def test_a_site_with_nothing_in_it_is_accessible_too(world, client, browser, live_server, look):
    with signed_in(browser, client, live_server.url, "new", look) as inspector:
        for name in EMPTY:
            inspector.look(f"{name} empty", reverse(name))
        inspector.page.context.clear_cookies()
        inspector.look("login", reverse("admin:login"))
    assert "\n".join(inspector.found) == ""


def test_what_is_wrong_with_a_page_is_noted(browser):
    context = browser.new_context(viewport={"width": 390, "height": 900})
    inspector = Inspector(context, "")
    inspector.page.set_content(
        "<html lang=en><title>t</title><body style='width: 500px; margin: 0'>"
        "<h1>h</h1><img src='data:,'><script>console.error('no')</script>"
    )
    inspector.check("bad")
    context.close()
    wrong = "\n".join(inspector.found)
    for expected in ("110 pixels too wide", "image-alt", "the console says no"):
        assert expected in wrong
