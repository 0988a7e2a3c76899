"""How far a run is, by its numbers and in words."""

from datetime import UTC, datetime, timedelta

import pytest

from evaluation.models import Run
from evaluation.runs.background.progress import Progress, compute_progress, format_duration

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def running(done, total, seconds=None, stage="embedding"):
    """A run that has been in its stage for some seconds."""
    began = None if seconds is None else NOW - timedelta(seconds=seconds)
    return Run(state="running", stage=stage, done=done, total=total, stage_started_at=began)


@pytest.fixture(autouse=True)
def _somebody_listens(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.progress.is_any_process_running", lambda: True)


def test_the_numbers_of_a_run_under_way_by_hand():
    # 300 of 1,200 are a quarter; in 8 s they are 37.5 a second; 900 are left, which take 24 s.
    assert compute_progress(running(300, 1200, seconds=8), NOW) == Progress(
        state="running",
        stage="embedding",
        done=300,
        total=1200,
        percent=25,
        rate=37.5,
        seconds_left=24.0,
        left="24 s",
        line="Embedding: 300 of 1,200, 38 a second, 24 s left",
        finished=False,
        waiting=False,
    )


def test_rates_are_told_to_hundredths_seconds_to_tenths_and_shares_in_whole_percent():
    # 2 of 3 are 66.67%; in 7 s they are 0.2857 a second; the last one takes 3.5 s.
    found = compute_progress(running(2, 3, seconds=7), NOW)
    assert (found.percent, found.rate, found.seconds_left) == (66, 0.29, 3.5)
    # 1 of 4 in 1.23 s: 3.69 s for the others.
    assert compute_progress(running(1, 4, seconds=1.23), NOW).seconds_left == 3.7


@pytest.mark.parametrize(
    ("done", "seconds"),
    [(0, 5), (2, None), (2, 0)],
    ids=["no step is done", "no start is known", "no time has passed"],
)
def test_a_stage_has_no_rate_before_a_step_and_some_time(done, seconds):
    found = compute_progress(running(done, 5, seconds), NOW)
    assert (found.percent, found.done) == (20 * done, done)
    assert (found.rate, found.seconds_left, found.left) == (None, None, None)


def test_nothing_is_counted_of_a_run_that_does_not_run():
    found = compute_progress(Run(state="done", done=5, total=5, stage_started_at=NOW), NOW)
    assert (found.percent, found.rate, found.seconds_left, found.left) == (None,) * 4
    assert (found.state, found.finished, found.waiting) == ("done", True, False)


@pytest.mark.parametrize(
    ("state", "waiting"), [("queued", True), ("running", True), ("paused", False), ("done", False)]
)
def test_who_is_not_finished_waits_while_nobody_listens(state, waiting, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.progress.is_any_process_running", lambda: False)
    assert compute_progress(Run(state=state), NOW).waiting is waiting


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0 s"),
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (3 * 3600 + 25 * 60 + 59, "3 h 25 min"),
    ],
)
def test_a_length_of_time_in_its_two_largest_units(seconds, words):
    assert format_duration(seconds) == words
