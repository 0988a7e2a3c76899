"""Chromium walks from the login to the leaderboard of a real site with a real worker."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from annotations import demo
from tests.browser.chromium import ARGUMENTS, CHROMIUM

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "rivers-and-lakes"
SECONDS_TO_START = 90
SECONDS_TO_GRADE = 120_000

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of `manage.py up` in a folder of its own, with a requester."""
    home = tmp_path_factory.mktemp("site")
    port = free_port()
    ours = ("DATABASE_URL", "CELERY_BROKER_URL", "ALLOWED_HOSTS", "HTTPS", "DEBUG")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"CROWDGRADE_HOME": str(home), "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    manage = [sys.executable, str(ROOT / "manage.py")]

    def run(*arguments):
        subprocess.run(
            [*manage, *arguments], env=environment, check=True, capture_output=True, cwd=ROOT
        )

    run("migrate", "--verbosity=0")
    run("createsuperuser", "--noinput", "--username=rana", "--email=rana@example.org")
    with (home / "log").open("wb") as log:
        up = subprocess.Popen(
            [*manage, "up", f"--port={port}"], env=environment, stdout=log, stderr=log, cwd=ROOT
        )
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            try:
                urlopen(f"{address}/admin/login/", timeout=5).close()
                break
            except (URLError, OSError):
                assert up.poll() is None, (home / "log").read_text()
                assert time.monotonic() < deadline, (home / "log").read_text()
                time.sleep(0.3)
        yield address
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(timeout=60)


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Walker:
    """A page that notes what its console says, and whether something is wider than it."""

    def __init__(self, page):
        self.page = page
        self.complaints = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({self.page.url})")

    def look(self, heading):
        """Check the page that is open."""
        self.page.get_by_role("heading", name=heading, level=1).wait_for()
        self.page.wait_for_load_state()  # a click may have led to a page that is just coming
        wider = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wider <= 0, f"{self.page.url} is {wider} pixels too wide"
        assert self.complaints == []

    def press(self, name, within=None):
        scope = self.page if within is None else self.page.locator(within)
        control = scope.get_by_role("button", name=name, exact=True)
        control = control.or_(scope.get_by_role("link", name=name, exact=True))
        control.first.click()

    def upload(self, kind, path, set_name):
        self.press(f"Upload {kind}")
        self.look(f"Upload {kind}")
        self.page.get_by_label("File").first.set_input_files(path)
        self.press("Check the file")
        self.look(f"Import {kind}?")
        self.page.get_by_role("button", name="Import ").click()
        self.look(f"The {kind} are imported")
        self.press("To the question set")
        self.look(set_name)

    def import_answers(self, path, set_name):
        self.press("Import answers")
        self.look("Import answers")
        self.page.get_by_label("File").first.set_input_files(path)
        self.press("Look into the file")
        self.look("What do the columns hold?")
        self.press("Check the whole file")
        self.look("Import answers?")
        self.page.get_by_role("button", name="Import ").click()
        self.look("The answers are imported")
        self.press("To the question set")
        self.look(set_name)


@pytest.mark.parametrize(
    ("width", "scheme"), [(1400, "light"), (390, "dark")], ids=["wide-light", "narrow-dark"]
)
def test_from_the_login_to_the_leaderboard(site, chromium, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    walker = Walker(context.new_page())
    page, name = walker.page, f"Tides {width}"
    try:
        page.goto(site)
        walker.look("Crowdgrade")
        page.get_by_label("User name").fill("rana")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        walker.look("Overview")
        assert page.evaluate("document.documentElement.className") == scheme.replace("light", "")

        # The menu is reached by the keyboard at both widths.
        if width < 1280:
            page.get_by_role("button", name="Menu").focus()
            page.keyboard.press("Enter")
        page.get_by_role("navigation", name="Main").get_by_text("Question sets").focus()
        page.keyboard.press("Enter")
        walker.look("Question sets")
        page.get_by_role("link", name="New question set").or_(
            page.get_by_role("link", name="Make the first one")
        ).first.click()
        page.get_by_label("Name").fill(name)
        page.get_by_label("Notice").fill("Written for a test by nobody real.")
        walker.press("Make the question set")
        walker.look(name)

        walker.upload("passages", demo.PASSAGES, name)
        walker.upload("questions", demo.QUESTIONS, name)
        walker.import_answers(demo.ANSWERS, name)
        walker.upload("model answers", demo.MODEL_ANSWERS, name)
        assert page.get_by_text("Written for a test by nobody real.").is_visible()

        walker.press("Import answers")
        page.get_by_label("File").first.set_input_files(demo.ANSWERS)
        walker.press("Look into the file")
        walker.press("Check the whole file")
        walker.look("Import answers?")
        assert page.get_by_text("Nothing changed").is_visible()
        walker.press("To the question set")

        walker.press("Grade")
        walker.look("Grade")
        page.get_by_label("How texts become vectors").select_option("tfidf-word")
        page.get_by_label("Bootstrap draws").fill("50")
        walker.press("Start the run")
        page.get_by_role("heading", name="Words, weighted by rarity", level=1).wait_for()
        # The page reloads itself when the run has ended.
        page.get_by_role("link", name="Results", exact=True).wait_for(timeout=SECONDS_TO_GRADE)
        walker.look("Words, weighted by rarity")
        walker.press("Results")
        walker.look("Results of")
        assert page.get_by_text("Written for a test by nobody real.").is_visible()
        page.get_by_role("link", name="Models", exact=True).click()
        page.wait_for_url("**/results/models/")
        page.locator("table").get_by_text("SmolLM2-135M, passage, t=0").first.wait_for()
        assert walker.complaints == []

        page.goto(f"{site}/api/v1/docs/")
        page.get_by_text("List question sets, newest first").wait_for()
        assert walker.complaints == []
        for address in ("/admin/", "/admin/runs/", "/admin/models/", "/admin/auth/user/"):
            page.goto(site + address)
            page.get_by_role("heading", level=1).first.wait_for()
            assert walker.complaints == []
    finally:
        context.close()
