"""A window of somebody who is signed in, and what is looked at in every page."""

import contextlib

import pytest
from django.contrib.auth.models import User

from tests.benchmarks.pages import PAGES, addresses, values_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]

WINDOWS = {"wide-light": (1400, "light"), "narrow-dark": (390, "dark")}
"""The width and colour scheme of each look."""

LOOKS = ("wide-light", pytest.param("narrow-dark", marks=pytest.mark.long))
"""The looks of a walk: each push takes it in a wide window, the long run on a telephone too."""

PAGE_LOOKS = (pytest.param("wide-light", marks=pytest.mark.long), "narrow-dark")
"""The looks in which every page is inspected: each push on a telephone, the long run in both."""

IN_BOTH_WINDOWS = pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(1400, "light", id="wide-light"),
        pytest.param(390, "dark", marks=pytest.mark.long, id="narrow-dark"),
    ],
)
"""The looks of a walk as widths and schemes."""


class Inspector:
    """A window of somebody who is signed in, which looks at pages and notes what is wrong."""

    def __init__(self, context, site):
        from axe_playwright_python.sync_playwright import Axe

        self.page, self.site, self.axe = context.new_page(), site, Axe()
        self.said, self.found = [], []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.said.append(message.text)

    def look(self, name, address):
        """Open an address; nothing is checked of what is no page."""
        self.said.clear()
        response = self.page.goto(self.site + address)
        if response.headers.get("content-type", "").partition(";")[0] != "text/html":
            return
        if response.status != 200:
            self.found.append(f"{name}: answered {response.status}")
            return
        self.check(name)

    def confirm_upload(self):
        """Check the preview of an uploaded file, and import it."""
        self.page.wait_for_selector("text=This was a dry run")
        self.check("preview")
        self.page.click("button:has-text('Import ')")
        self.page.wait_for_selector("text=All of it is stored.")
        self.check("imported")

    def check(self, name):
        """Note what is wrong with the page that is open."""
        self.page.wait_for_load_state()  # a click may have led to a page that is just coming
        wider = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if wider > 0:
            self.found.append(f"{name}: {wider} pixels too wide")
        for violation in self.axe.run(self.page).response["violations"]:
            node = violation["nodes"][0]
            self.found.append(
                f"{name}: {violation['id']}, {len(violation['nodes'])} times, "
                f"such as {node['html'][:200]}: {node['failureSummary'][:300]}"
            )
        self.found += [f"{name}: the console says {said}" for said in self.said]


@contextlib.contextmanager
def signed_in(browser, client, site, username, look):
    width, scheme = WINDOWS[look]
    client.force_login(User.objects.get(username=username))
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site}]
    )
    with contextlib.closing(context):
        yield Inspector(context, site)


def readable(client, run):
    """The addresses that answer with a page: asked without a browser first, which is quicker."""
    client.force_login(run.owner)
    for name, address in addresses(values_of(run))[0]:
        response = client.get(address)
        if response.streaming:
            b"".join(response.streaming_content)
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.status_code == 200 and kind == PAGES[0]:
            yield name, address
