"""A PostgreSQL that is silent holds a request for seconds, and is told as a lost connection."""

import socket
import time

import psycopg
import pytest
from django.db.backends.signals import connection_created

from crowdgrade import database_timeouts, settings
from crowdgrade.database_timeouts import bound_new_connections, bound_waiting
from crowdgrade.outages import Outage, outage_of


def test_connections_have_timeouts_and_the_address_may_name_others(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:p@db.example.org/crowd?connect_timeout=2")
    options = settings._database()["OPTIONS"]
    assert int(options["connect_timeout"]) == 2
    assert options["tcp_user_timeout"] == database_timeouts.LOST_SECONDS * 1000
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:p@db.example.org/crowd")
    assert settings._database()["OPTIONS"] == database_timeouts.OPTIONS


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
    assert outage_of(caught.value) is Outage.LOST


@pytest.mark.long
def test_a_statement_without_an_answer_ends_the_connection(postgres_database):
    with psycopg.connect(postgres_database) as other:
        bound_waiting(other, 0.3)
        assert other.execute("SELECT 1").fetchone()[0] == 1
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError) as caught:
            other.execute("SELECT pg_sleep(20)")
        assert time.monotonic() - began < 10
        assert outage_of(caught.value) is Outage.LOST
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
    bound_waiting(silent, 7.0)
    with pytest.raises(psycopg.OperationalError) as caught:
        silent.wait(None, interval=0.5)
    assert silent.timeouts == [(0.5, 7.0)]
    assert silent.finished
    assert outage_of(caught.value) is Outage.LOST


def test_a_web_process_bounds_every_connection_that_it_opens():
    made = SilentConnection()
    wrapper = type("Wrapper", (), {"vendor": "postgresql", "connection": made})()
    bound_new_connections()
    try:
        connection_created.send(type(wrapper), connection=wrapper)
        with pytest.raises(psycopg.OperationalError):
            made.wait(None)
    finally:
        assert connection_created.disconnect(dispatch_uid="database_timeouts")
    assert made.timeouts == [(0.1, database_timeouts.ANSWER_SECONDS)]
