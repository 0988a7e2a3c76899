"""What walks share: Chromium and a real site, a process one each; runs in every state."""

import contextlib
import os
import shutil
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from crowdgrade import demo
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.attack.site import Site
from tests.browser.chromium import ARGUMENTS, CHROMIUM
from tests.browser.walking import PASSWORD


@pytest.fixture(scope="package")
def chromium():
    """Chromium itself, for what keeps windows over several tests."""
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


@pytest.fixture(autouse=True)
def answered(request):
    """Before the tables are emptied, the server in this process has answered what it was asked.

    A window that closes sends its last words (a draft, a count) and waits for no answer: a table
    that the server still reads cannot be emptied, and what it writes would meet the next test.
    """
    if "live_server" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("transactional_db")  # so that this ends before the tables are emptied
    yield
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=60)
            assert not thread.is_alive(), "the server has not answered, or a window was left open"


@pytest.fixture
def browser(chromium, answered):
    """Chromium for one test: what it leaves open, a failure's windows too, is closed after it."""
    before = set(chromium.contexts)
    yield chromium
    for context in set(chromium.contexts) - before:
        context.close()


@pytest.fixture
def world(transactional_db, settings, tmp_path, monkeypatch):
    """The demo's set with two finished runs and one in every other state; and who has nothing."""
    settings.HOME = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    owner = User.objects.create_superuser(demo.USERNAME)
    User.objects.create_user("new", is_staff=True)
    version = demo.load_demo().latest_version()
    parameters = AqerParameters(embedder="tfidf-word", bootstrap=50)
    for _ in range(2):
        runs.queue_run(version, owner.pk, parameters)
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


REQUESTER = """
from django.contrib.auth.models import User
result = User.objects.create_superuser("rana", "rana@example.org", PASSWORD).pk
"""


@pytest.fixture(scope="package")
def site(migrated, tmp_path_factory):
    """The address of `manage.py up` in a folder of its own, with a requester."""
    home = Path(shutil.copytree(migrated, tmp_path_factory.mktemp("site") / "home"))
    # The lease that a site has: that of tests of killed workers is short.
    with contextlib.closing(Site(home, more={"LEASE_SECONDS": "60"})) as served:
        served.python(REQUESTER, PASSWORD=PASSWORD)
        served.start()
        yield served.address
        served.end()
