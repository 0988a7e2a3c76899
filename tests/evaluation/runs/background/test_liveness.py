"""Whether anybody listens, who says so, and who rings for work that was left."""

import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotations.models import QuestionSet
from evaluation.models import BackgroundWorker, Run
from evaluation.runs.background import leases, progress
from evaluation.runs.background.leases import build_future_time, claim_next_run
from evaluation.runs.background.work import get_process_name


def seen(name, **ago):
    BackgroundWorker.objects.create(name=name, seen_at=timezone.now() - timedelta(**ago))


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds", "listens"), [(0, True), (15, True), (25, False)])
def test_somebody_listens_who_gave_a_sign_in_the_last_twenty_seconds(seconds, listens):
    assert not progress.is_any_process_running()
    seen("w", seconds=seconds)
    assert progress.is_any_process_running() is listens


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_on_the_list_from_its_start_to_its_end_and_rings_at_every_sign(monkeypatch):
    rung, thrice = [], threading.Event()

    def ring(lane):
        rung.append(BackgroundWorker.objects.filter(name=get_process_name()).count())
        if len(rung) == 3:
            thrice.set()

    monkeypatch.setattr(progress, "wake_process_if_needed", ring)
    seen("of yesterday", hours=25)
    seen("of today", hours=23)
    announcer = progress.Announcer(every=0.02)
    announcer.start()
    thread = announcer._thread
    announcer.start()
    assert announcer._thread is thread
    try:
        assert thrice.wait(10)
        assert progress.is_any_process_running()
    finally:
        announcer._stop.set()
        thread.join(10)
        announcer.stop()
    assert set(rung) == {1}
    # Its own name is gone, and with it those who were silent for a day.
    assert [worker.name for worker in BackgroundWorker.objects.all()] == ["of today"]


def test_who_was_stopped_can_begin_again(monkeypatch):
    announced = []
    announcer = progress.Announcer(every=5)
    monkeypatch.setattr(
        announcer, "_store_signs", lambda: announced.append(announcer._stop.is_set())
    )
    announcer.stop()  # before it began: nothing
    for _ in range(2):
        announcer.start()
        announcer.stop()
        assert announcer._stop.is_set()
    assert announced == [False, False]


# --- the bell ------------------------------------------------------------------------------------


@pytest.fixture
def rung(monkeypatch):
    """The names of the tasks that were sent."""
    sent = []
    monkeypatch.setattr(leases.current_app, "send_task", sent.append)
    return sent


@pytest.mark.parametrize("error", [OperationalError("no broker"), ConnectionRefusedError("no")])
def test_a_bell_that_cannot_be_rung_is_told_in_the_log_and_nothing_else(error, monkeypatch, caplog):
    def refuse(name):
        raise error

    monkeypatch.setattr(leases.current_app, "send_task", refuse)
    assert leases.wake_process() is False
    assert str(error) in caplog.text


@pytest.mark.django_db
def test_it_is_rung_for_a_run_that_waits_or_was_left_and_for_no_other(rung, monkeypatch):
    assert leases.wake_process_if_needed() is False
    owner = User.objects.create(username="rita")
    version = QuestionSet.objects.create(owner=owner, name="capitals").draft()
    Run.objects.create(owner=owner, version=version)
    assert leases.wake_process_if_needed() is True  # it waits
    claim_next_run("ann")
    assert leases.wake_process_if_needed() is False  # it is worked on
    Run.objects.update(lease_until=build_future_time(timedelta(seconds=-1)))
    assert leases.wake_process_if_needed() is True  # its worker is gone
    assert rung == ["evaluation.tasks.work"] * 2
    monkeypatch.setattr(leases, "wake_process", lambda: False)
    assert leases.wake_process_if_needed() is False  # nobody heard it


@pytest.mark.django_db
def test_it_is_rung_once_what_was_written_is_committed(rung, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        leases.wake_process_on_commit()
        assert rung == []
    assert rung == ["evaluation.tasks.work"]


class Away:
    """A database that is away for the first signs."""

    def __init__(self, times):
        self.times, self.asked = times, 0

    def update_or_create(self, **of):
        self.asked += 1
        if self.asked <= self.times:
            raise DatabaseError("server closed the connection")
        return BackgroundWorker.objects.none().first(), True

    def filter(self, **of):
        raise DatabaseError("still away")


def test_a_database_that_is_away_is_told_in_the_log_and_asked_again(monkeypatch, caplog):
    away, closed, rung = Away(2), [], threading.Event()
    monkeypatch.setattr(progress, "BackgroundWorker", SimpleNamespace(objects=away))
    monkeypatch.setattr(progress, "connection", SimpleNamespace(close=lambda: closed.append(1)))
    monkeypatch.setattr(progress, "cancel_stale_tasks", lambda: 0)
    monkeypatch.setattr(progress, "wake_process_if_needed", lambda lane: rung.set())
    announcer = progress.Announcer(every=0.01)
    announcer.start()
    assert rung.wait(10)
    thread = announcer._thread
    announcer.stop()
    thread.join(10)
    told = [(one.levelname, *map(str, one.args)) for one in caplog.records]
    assert told == [
        *[("WARNING", "server closed the connection")] * 2,
        ("WARNING", "still away"),
    ]
    # After each failure, and at the end.
    assert len(closed) == 3
    assert away.asked >= 3


def test_an_end_is_waited_for_as_long_as_two_signs_take(monkeypatch):
    waited = []

    class Thread:
        def join(self, timeout):
            waited.append(timeout)

    announcer = progress.Announcer(every=3.0)
    announcer._thread = Thread()
    announcer.stop()
    assert (waited, announcer._thread) == ([6.0], None)
