"""What comes back for every mistake that a form of the site can be sent: axe, and where one stands.

The list is complete by construction: `tests.desk.test_bad_posts` fails for a form without a
mistake in `tests.desk.bad_posts`. The pages are made by Django's own client and shown to the
browser in place of what the live server would answer, so each mistake costs one load of a page.
"""

from functools import partial

import pytest

from tests.browser.pages import PAGE_LOOKS, signed_in
from tests.browser.test_every_route import TOLD
from tests.desk.conftest import ida, otto, own_home, rana, world
from tests.desk.errors_shown import MISTAKES, post
from tests.desk.test_access import circle

__all__ = ["circle", "ida", "otto", "own_home", "rana", "world"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
# Of the answer that the browser is given: what the server of the test says of its own body.
OF_THE_BODY = ("content-length", "content-encoding")
FOCUSED = """() => {
  const here = document.activeElement;
  const told = here?.querySelector("[role=alert]") || here?.closest("[aria-label=Messages]");
  return told ? "" : `the focus is on ${here?.outerHTML.slice(0, 120)}`;
}"""
SHUT = """() => [...document.querySelectorAll("[aria-invalid=true]")]
  .filter((one) => !one.checkVisibility()).map((one) => `${one.name} is marked and not seen`)"""


def answer(one, route):
    """Give the browser what came back for a mistake."""
    headers = {name: v for name, v in one.headers.items() if name.lower() not in OF_THE_BODY}
    route.fulfill(status=one.status, headers=headers, body=one.text)


@pytest.mark.parametrize("look", PAGE_LOOKS)
@pytest.mark.long
def test_axe_finds_nothing_of_any_level_on_what_any_mistake_brings(
    circle, client, browser, live_server, look
):
    shown = [post(circle, route, bad) for route, bad in MISTAKES]
    found = wrong_in(shown, signed_in(browser, client, live_server.url, "rana", look))
    print("\n".join(found))
    assert found == []


def wrong_in(shown, window):
    """What axe, the console and the focus tell of what came back."""
    found = []
    with window as inspector:
        for one in shown:
            address = inspector.site + one.address
            inspector.page.route(address, partial(answer, one))
            inspector.said.clear()
            inspector.page.goto(address)
            inspector.check(one.name)
            told = [inspector.page.evaluate(FOCUSED), *inspector.page.evaluate(SHUT)]
            found += [f"{one.name}: {said}" for said in told if said]
            inspector.page.unroute(address)
        # The console tells the status.
        found += [one for one in inspector.found if TOLD not in one]
    return found
