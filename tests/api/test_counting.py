"""Requests are counted in Redis; while it is away nobody is refused for that, nor unbounded."""

import contextlib
import shutil
import signal
import socket
import subprocess
import time

import pytest
import redis
from django.core.cache import cache, caches
from rest_framework.throttling import SimpleRateThrottle

from crowdgrade import settings as of_the_site
from crowdgrade.rest.permissions import CountingThrottle
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db


class Redis:
    """A server of our own, which keeps nothing."""

    def __init__(self, folder):
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("no redis-server on this machine")
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [program, "--port", str(self.port), "--bind", "127.0.0.1"]
        self._command += ["--save", "", "--appendonly", "no", "--dir", str(folder)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                return redis.Redis.from_url(self.url).ping()
            except redis.ConnectionError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def counted(self):
        """How many users are counted."""
        return len(redis.Redis.from_url(self.url).keys("*throttle_user_*"))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def counted_at(settings, monkeypatch):
    """Return a function that has the site count at an address."""
    monkeypatch.setattr(CountingThrottle, "_resting_until", 0.0)
    monkeypatch.setattr(
        SimpleRateThrottle,
        "THROTTLE_RATES",
        {"anonymous": "2/min", "user": "3/min", "bulk": "9/min"},
    )

    def count(url):
        monkeypatch.setenv("CACHE_URL", url)
        settings.CACHES = of_the_site._build_caches()

    return count


@pytest.fixture
def server(tmp_path):
    server = Redis(tmp_path)
    yield server
    server.process.send_signal(signal.SIGCONT)
    server.stop()


def statuses(asking, n):
    return [asking.get("runs/").status_code for _ in range(n)]


def test_a_redis_that_is_stopped_refuses_nobody_and_is_counted_in_again(
    api, rana, server, counted_at, monkeypatch
):
    monkeypatch.setattr(CountingThrottle, "PAUSE", 0.0)
    counted_at(server.url)
    asking = api(rana)
    assert statuses(asking, 2) == [200, 200]
    assert server.counted() == 1
    server.stop()
    # The process does not know of the two before, and counts for itself.
    assert statuses(asking, 4) == [200, 200, 200, 429]
    server.start()
    assert statuses(asking, 4) == [200, 200, 200, 429]
    assert server.counted() == 1


@pytest.mark.medium
def test_a_redis_that_says_nothing_keeps_one_request_waiting_and_no_other(
    api, rana, server, counted_at
):
    counted_at(server.url)
    asking = api(rana)
    assert statuses(asking, 1) == [200]
    server.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert statuses(asking, 3) == [200, 200, 200]
    assert time.monotonic() - began < 5  # a second, and the requests


def test_nobody_listens_at_the_address_at_all(api, rana, counted_at, caplog):
    counted_at(f"redis://127.0.0.1:{free_port()}/0")
    asking = api(rana)
    assert statuses(asking, 3) == [200, 200, 200]
    problem(asking.get("runs/"), 429, "throttled")
    assert statuses(api(), 3) == [401, 401, 429]
    assert caplog.text.count("CACHE_URL does not answer") == 1


@pytest.fixture(autouse=True)
def _counts_begin_anew():
    caches["process"].clear()
    cache.clear()
    yield
    with contextlib.suppress(redis.RedisError):
        cache.clear()
