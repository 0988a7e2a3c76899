"""Every address in Chromium, in every state: accessible, not too wide, the console silent."""

import contextlib
import os
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from crowdgrade import demo
from evaluation.background import runs
from evaluation.background.work import work_one_turn
from evaluation.evidence.benchmarks.pages import PAGES, addresses, values_of
from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from tests.browser.chromium import ARGUMENTS, CHROMIUM

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]

LOOKS = {"wide-light": (1400, "light"), "narrow-dark": (390, "dark")}
EMPTY = [
    *("admin:index", "admin:question-sets", "admin:question-set-new", "admin:runs"),
    *("admin:models", "admin:model-new", "admin:prompts", "admin:prompt-new"),
    *("admin:teams", "admin:password_change"),
]


@pytest.fixture
def world(transactional_db, settings, tmp_path, monkeypatch):
    """The demo's set with two finished runs and one in every other state; and who has nothing."""
    settings.HOME = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr("evaluation.background.work.ring", lambda: True)
    monkeypatch.setattr("evaluation.background.doorbell.ring", lambda: True)
    owner = User.objects.create_superuser(demo.USERNAME)
    User.objects.create_user("new", is_staff=True)
    version = demo.load().latest_version()
    parameters = AqerParameters(embedder="tfidf-word", bootstrap=50)
    for _ in range(2):
        runs.queue(version, owner.pk, parameters)
    while work_one_turn():
        pass
    done = Run.objects.latest("pk")
    assert done.state == "done", done.error
    assert done.alarms.exists()
    now = timezone.now()
    common = {"owner": owner, "version": version, "parameters": parameters.as_dict()}
    begun = {"attempt": 1, "started_at": now - timedelta(minutes=3), "stage": "embedding"}
    Run.objects.create(**common)
    Run.objects.create(
        **common,
        **begun,
        state="running",
        lease_owner="somebody",
        lease_until=now + timedelta(hours=1),
        stage_started_at=now - timedelta(minutes=2),
        done=640,
        total=4120,
    )
    Run.objects.create(**common, **begun, state="cancelled", finished_at=now)
    Run.objects.create(
        **common, **begun, state="failed", finished_at=now, error="The server answered 401."
    )
    return done


@pytest.fixture
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path")
    # Playwright keeps an event loop in this thread, in which Django refuses to use the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


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
    width, scheme = LOOKS[look]
    client.force_login(User.objects.get(username=username))
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site}]
    )
    yield Inspector(context, site)
    context.close()


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


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_accessible_fits_and_keeps_its_console_silent(
    world, client, browser, live_server, look
):
    pages = dict(readable(client, world))
    assert len(pages) >= 20
    for run in Run.objects.exclude(state="done"):
        for name in ("admin:run", "admin:results-run"):
            key = "run_id" if name == "admin:run" else "run"
            pages[f"{name} {run.state}"] = reverse(name, kwargs={key: run.public_id})
    with signed_in(browser, client, live_server.url, demo.USERNAME, look) as inspector:
        for name, address in pages.items():
            inspector.look(name, address)
    assert "\n".join(inspector.found) == ""


@pytest.mark.parametrize("look", LOOKS)
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
