"""Health checks answer without a login, say which part fails, and never wait without end."""

import threading

import pytest
from celery import Celery
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder

from crowdgrade.monitoring import health


def well():
    pass


@pytest.fixture
def checks(monkeypatch):
    """All checks pass; the test replaces what should fail."""
    made = dict.fromkeys(health.CHECKS, well)
    monkeypatch.setattr(health, "CHECKS", made)
    return made


def test_live_asks_neither_database_nor_session(client, db, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"state": "live"})
    assert "sessionid" not in answer.cookies
    assert client.post("/health/live").status_code == 405


def test_ready_is_200_while_all_is_well_with_the_state_and_limit_of_each_check(client, checks):
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    body = answer.json()
    assert body["state"] == "ready"
    assert list(body["checks"]) == ["database", "migrations", "broker", "disk"]
    assert {(one["state"], one["timeout"]) for one in body["checks"].values()} == {("ok", 3.0)}


@pytest.mark.parametrize("name", ["database", "migrations", "broker", "disk"])
def test_one_failed_check_makes_it_503_and_the_answer_holds_no_secret(client, checks, name):
    def fail():
        raise OperationalError("connection to db.internal failed: password=hush")

    checks[name] = fail
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    states = {key: one["state"] for key, one in answer.json()["checks"].items()}
    assert states == {**dict.fromkeys(checks, "ok"), name: "failed"}
    assert answer.json()["checks"][name]["reason"] == "OperationalError"
    assert "hush" not in answer.content.decode()
    assert "internal" not in answer.content.decode()


def test_a_check_that_hangs_is_a_timeout_and_delays_no_other(checks):
    release = threading.Event()
    checks["broker"] = release.wait
    try:
        found = health.run_checks(seconds=0.2)
    finally:
        release.set()
    assert {name: one.state for name, one in found.items()} == {
        "database": "ok",
        "migrations": "ok",
        "broker": "timeout",
        "disk": "ok",
    }
    assert found["broker"].seconds == 0.2


@pytest.mark.medium
def test_hanging_checks_take_at_most_the_threads_of_their_pool_and_none_of_the_others(checks):
    release = threading.Event()
    checks["broker"] = release.wait
    before = threading.active_count()
    try:
        for _ in range(10):
            assert health.run_checks(seconds=0.01)["broker"].state == "timeout"
        found = health.run_checks(seconds=1)
        assert {name: one.state for name, one in found.items()} == {
            "database": "ok",
            "migrations": "ok",
            "broker": "timeout",
            "disk": "ok",
        }
        # Each pool fills up to its size, also if a thread of it is free.
        assert threading.active_count() <= before + len(checks) * health.THREADS
    finally:
        release.set()


def test_missing_migrations_are_named_and_their_record_is_enough(db, monkeypatch):
    last = [("annotations", "0099_later"), ("evaluation", "0098_later")]
    monkeypatch.setattr(health, "_list_last_migrations", lambda: last)
    with pytest.raises(health.NotReadyError) as missing:
        health.check_migrations()
    assert str(missing.value).endswith("annotations.0099_later, evaluation.0098_later")
    applied = {last[0]: None}
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda recorder: applied)
    with pytest.raises(health.NotReadyError) as missing:
        health.check_migrations()
    assert str(missing.value).endswith(": evaluation.0098_later")
    applied[last[1]] = None
    health.check_migrations()
    health.check_database()


def test_little_free_space_is_not_ready(settings, tmp_path):
    settings.HOME = tmp_path / "not" / "there"
    settings.READY_FREE_BYTES = 1
    health.check_disk()
    settings.READY_FREE_BYTES = 1 << 60
    with pytest.raises(health.NotReadyError):
        health.check_disk()


@pytest.mark.medium
def test_a_broker_that_takes_no_connection_fails(monkeypatch):
    monkeypatch.setattr(health, "current_app", Celery("there", broker="memory://"))
    health.check_broker()
    nowhere = Celery("nowhere", broker="redis://127.0.0.1:1/0")
    monkeypatch.setattr(health, "current_app", nowhere)
    with pytest.raises(Exception, match=r"127\.0\.0\.1:1"):
        health.check_broker()
