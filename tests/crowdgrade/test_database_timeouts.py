"""A PostgreSQL that is silent holds a request for seconds, and is told as a lost connection."""

import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
import pytest
from django.db.backends.signals import connection_created
from django.http import HttpResponse

from crowdgrade import database_timeouts, read_retry, settings
from crowdgrade.database_timeouts import (
    ANSWER_SECONDS,
    CONNECT_SECONDS,
    limit_new_connections,
    limit_waiting,
)
from crowdgrade.outages import Outage, find_outage
from crowdgrade.read_retry import RetryMiddleware
from crowdgrade.rest.errors import RETRY_SECONDS
from crowdgrade.web_server import THREADS
from tests.evaluation.runs.background.scratch import ROOT, wait_until

SLACK = 10
"""Seconds beyond the bound in which a busy machine may answer."""


def test_connections_have_timeouts_and_the_address_may_name_others(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:p@db.example.org/crowd?connect_timeout=2")
    options = settings._read_database()["OPTIONS"]
    assert int(options["connect_timeout"]) == 2
    assert options["tcp_user_timeout"] == database_timeouts.LOST_SECONDS * 1000
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:p@db.example.org/crowd")
    assert settings._read_database()["OPTIONS"] == database_timeouts.OPTIONS


@pytest.mark.medium
def test_a_server_that_takes_the_connection_and_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError) as caught:
            psycopg.connect(
                f"host=127.0.0.1 port={port} dbname=a user=a sslmode=disable",
                **database_timeouts.OPTIONS | {"connect_timeout": 2},
            )
    assert time.monotonic() - began < 10
    assert find_outage(caught.value) is Outage.LOST


@pytest.mark.long
def test_a_statement_without_an_answer_ends_the_connection(postgres_database):
    with psycopg.connect(postgres_database) as other:
        limit_waiting(other, 0.3)
        assert other.execute("SELECT 1").fetchone()[0] == 1
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError) as caught:
            other.execute("SELECT pg_sleep(20)")
        assert time.monotonic() - began < 10
        assert find_outage(caught.value) is Outage.LOST
        assert other.closed


class SilentConnection:
    """Waits as psycopg does for a server that never answers."""

    def __init__(self):
        self.pgconn, self.finished, self.timeouts = self, False, []

    def finish(self):
        self.finished = True

    def wait(self, generator, interval=0.1, timeout=None):
        self.timeouts.append((interval, timeout))
        raise psycopg.errors._WaitTimeout("wait timeout expired")


def test_waiting_is_bounded_and_the_connection_is_of_no_use_afterwards():
    silent = SilentConnection()
    limit_waiting(silent, 7.0)
    with pytest.raises(psycopg.OperationalError) as caught:
        silent.wait(None, interval=0.5)
    assert silent.timeouts == [(0.5, 7.0)]
    assert silent.finished
    assert find_outage(caught.value) is Outage.LOST


def test_a_web_process_bounds_every_connection_that_it_opens():
    made = SilentConnection()
    wrapper = type("Wrapper", (), {"vendor": "postgresql", "connection": made})()
    limit_new_connections()
    try:
        connection_created.send(type(wrapper), connection=wrapper)
        with pytest.raises(psycopg.OperationalError):
            made.wait(None)
    finally:
        assert connection_created.disconnect(dispatch_uid="database_timeouts")
    assert made.timeouts == [(0.1, database_timeouts.ANSWER_SECONDS)]


class SilentProxy:
    """Passes bytes on to PostgreSQL until it is silent: then it takes them, and answers nothing.

    New connections are taken while it is silent, as a firewall that drops packets behind it does.
    """

    def __init__(self, target):
        self.target, self.passes = target, threading.Event()
        self.passes.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._ends, self._threads = [self._listening], []
        self._start(self._accept)

    def close(self):
        self.passes.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:  # the one that accepts comes first, and adds no more then
            thread.join(10)
        for end in self._ends:
            end.close()

    def _start(self, *call):
        self._threads.append(threading.Thread(target=call[0], args=call[1:], daemon=True))
        self._threads[-1].start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            far = socket.create_connection(self.target)
            self._ends += [near, far]
            self._start(self._pass_on, near, far)
            self._start(self._pass_on, far, near)

    def _pass_on(self, one, other):
        with suppress(OSError):
            while taken := one.recv(1 << 16):
                self.passes.wait()
                other.sendall(taken)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def site(postgres_database, tmp_path):
    """A web process as it is installed, its database behind a proxy; both, and the database."""
    parts = urlsplit(postgres_database)
    proxy = SilentProxy((parts.hostname, parts.port))
    there = f"{parts.username}@127.0.0.1:{proxy.port}"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = (tmp_path / "log").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "crowdgrade.web_server", "127.0.0.1", str(port)],
        cwd=ROOT,
        env=os.environ
        | {
            "CROWDGRADE_HOME": str(tmp_path / "home"),
            "DATABASE_URL": urlunsplit(parts._replace(netloc=there)),
            "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}",
        },
        stdout=log,
        stderr=log,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            wait_until(lambda: answered(client) == 404, 60, "it answers", Path(log.name).read_text)
            yield client, proxy, postgres_database
    finally:
        process.terminate()
        process.wait(30)
        proxy.close()
        log.close()


# The link of no study: the page looks for it in the database, and says that there is none.
LINK = f"/answer/{uuid.UUID(int=7)}/"


def answered(client, method="GET"):
    try:
        return client.request(method, LINK).status_code
    except httpx.HTTPError:
        return 0


def refused(client, method):
    """Return the status, when to try again, and the seconds until the answer came."""
    began = time.monotonic()
    response = client.request(method, LINK)
    return response.status_code, response.headers.get("Retry-After"), time.monotonic() - began


def at_once(client, methods):
    """Return what requests of these methods, sent at the same time, are answered with."""
    with ThreadPoolExecutor(len(methods)) as several:
        return list(several.map(lambda method: refused(client, method), methods))


def bounded(answers, bound):
    """Assert that all were told to try again within the bound, on a busy machine too."""
    assert {(status, again) for status, again, _ in answers} == {(503, str(RETRY_SECONDS))}
    assert max(seconds for _, _, seconds in answers) < bound + SLACK, answers


@pytest.mark.long
def test_a_page_and_a_form_behind_a_lock_are_answered_with_503_and_again_when_it_is_free(site):
    client, _, database = site
    with psycopg.connect(database) as holder:
        holder.execute("LOCK TABLE annotations_collection IN ACCESS EXCLUSIVE MODE")
        answers = at_once(client, ["GET", "POST"])
        holder.rollback()
    bounded(answers, ANSWER_SECONDS)
    assert min(seconds for _, _, seconds in answers) > ANSWER_SECONDS - 1
    assert answered(client) == answered(client, "POST") == 404


@pytest.mark.long
def test_a_database_that_falls_silent_is_answered_with_503_and_again_when_it_speaks(site):
    client, proxy, _ = site
    # Every thread keeps a connection then, which is tried before a new one is made.
    assert {status for status, _, _ in at_once(client, ["GET"] * 4 * THREADS)} == {404}
    proxy.passes.clear()
    answers = at_once(client, ["GET", "POST"])
    proxy.passes.set()
    bounded(answers, ANSWER_SECONDS + CONNECT_SECONDS)
    assert answered(client) == answered(client, "POST") == 404


@pytest.mark.parametrize(("seconds", "times"), [(0.5, 2), (ANSWER_SECONDS, 1)])
def test_a_page_is_made_once_more_only_where_its_connection_was_ended(
    rf, monkeypatch, seconds, times
):
    made, now = [], [100.0]
    monkeypatch.setattr(read_retry.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(read_retry, "close_old_connections", lambda: None)

    def lost(request):
        made.append(request)
        now[0] += seconds
        response = HttpResponse(status=503)
        response.outage = Outage.LOST
        return response

    assert RetryMiddleware(lost)(rf.get("/")).status_code == 503
    assert len(made) == times
