"""Every route of the site in Chromium, by somebody who may see it: axe finds nothing of any level.

The list is complete by construction: it is `tests.desk.routes.ROUTES`, in which every address must
stand, so a new page is visited here as soon as it has a rule there. What answers with a page that
says why not (404, 403) is looked at too: those are pages that people see.
"""

import pytest

from tests.browser.pages import PAGE_LOOKS, signed_in
from tests.desk.conftest import ida, otto, own_home, rana, world
from tests.desk.routes import ROUTES
from tests.desk.test_access import circle
from tests.desk.visits import is_of_people, visits

__all__ = ["circle", "ida", "otto", "own_home", "rana", "world"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
TOLD = "the console says Failed to load resource"


def pages_of(circle):
    """The visits that answer with a page: asked without a browser first, which is quicker."""
    found = {}
    for role, name, address in visits(circle):
        response = circle.clients[role].get(address)
        is_html = response.headers.get("Content-Type", "").startswith("text/html")
        text = b"".join(response) if response.streaming or is_html else b""
        # A part that a page fetches for itself is looked at on that page.
        if is_html and b"<html" in text:
            found.setdefault(role, []).append((name, address))
    return found


def check_completeness(circle, shown):
    """Check that every route is visited: one without an address would be left out of the walk."""
    visited = {name for _, name, _ in visits(circle)}
    wanted = {name for name, route in ROUTES.items() if "get" in route.rules and is_of_people(name)}
    assert visited == wanted
    assert sum(map(len, shown.values())) >= 60
    assert {"rana", "ed"} <= shown.keys()


@pytest.mark.parametrize("look", PAGE_LOOKS)
def test_axe_finds_nothing_of_any_level_on_any_route(circle, client, browser, live_server, look):
    found, shown = [], pages_of(circle)
    check_completeness(circle, shown)
    for role, pages in shown.items():
        username = circle.people[role].username
        with signed_in(browser, client, live_server.url, username, look) as inspector:
            for name, address in pages:
                inspector.said.clear()
                response = inspector.page.goto(live_server.url + address)
                inspector.check(f"{name} as {role}")
                if response.status != 200:  # the console tells the status
                    inspector.found = [one for one in inspector.found if TOLD not in one]
            found += inspector.found
    print("\n".join(found))
    assert found == []
