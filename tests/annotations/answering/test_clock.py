"""A clock that was set back (a resumed machine, servers apart) ends nothing in an error."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.answering import places
from annotations.models import Reading, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db


@pytest.fixture
def set_back(monkeypatch):
    """Sets the clock of what follows back by two hours."""
    real = timezone.now

    def change():
        monkeypatch.setattr(timezone, "now", lambda: real() - timedelta(hours=2))

    return change


def test_a_place_is_kept_anew_from_30_seconds_after_its_worker_was_seen(tides, monkeypatch):
    Browser(published(tides, reservation_minutes=10)).begin()
    submission = Submission.objects.get()
    seen = submission.last_seen_at
    for seconds, noted in ((29.9, seen), (30, seen + timedelta(seconds=30))):
        monkeypatch.setattr(timezone, "now", lambda after=seconds: seen + timedelta(seconds=after))
        places.extend_reservation(submission)
        stored = Submission.objects.get()
        assert stored.last_seen_at == noted
        assert stored.reserved_until == noted + timedelta(minutes=10)


def test_a_reading_ends_no_earlier_than_it_began(tides, set_back):
    ada = Browser(published(tides))
    ada.begin()
    ada.press()
    opened = Reading.objects.get()
    assert opened.read_at is None
    set_back()
    assert ada.press().status_code == 200
    reading = Reading.objects.get()
    assert reading.read_at == reading.opened_at == opened.opened_at


def test_who_hands_in_after_the_clock_went_back_hands_in(tides, set_back):
    ada = Browser(published(tides, protocol="open"))
    ada.begin()
    ada.until("review")
    set_back()
    assert places.has_place(Submission.objects.get())
    ada.press()
    submission = Submission.objects.get()
    assert submission.state == "submitted"
    assert submission.submitted_at == submission.started_at
