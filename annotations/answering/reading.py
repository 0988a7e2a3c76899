"""Reading a passage before its questions are answered from memory.

It opens by a form and never by a link, so that what only looks at addresses (a preview, a robot)
starts no clock. It ends when the worker says so or at the deadline, by the server's clock; after
that the passage is not served to this submission again.
"""

from __future__ import annotations

from django.utils import timezone

from annotations.answering.refused import AnsweringError
from annotations.answering.way import TEXT, AnswerPage, Way
from annotations.models import Reading


def open_passage(way: Way, page: AnswerPage) -> Reading:
    """Begin to read; a second time returns the first. Raises `AnsweringError`: gone, not_yet."""
    assert page.passage is not None
    begun = way.reading_of(page)
    if begun is None:
        step = way.next_step()
        if step.kind != TEXT or step.page != page.number:
            raise AnsweringError("not_yet")
        begun, _ = Reading.objects.get_or_create(
            submission=way.submission,
            passage=page.passage,
            defaults={"opened_at": timezone.now()},
        )
        way.readings[page.passage.pk] = begun
        way.now = timezone.now()
    if not way.may_read(page):
        raise AnsweringError("gone")
    return begun


def have_read(way: Way, page: AnswerPage) -> None:
    """End the reading; a second time changes nothing. Raises `AnsweringError`: not_yet."""
    reading = way.reading_of(page)
    if reading is None:
        raise AnsweringError("not_yet")
    # A clock that was set back ends no reading before its beginning.
    now = max(reading.opened_at, min(timezone.now(), way.deadline(reading)))
    Reading.objects.filter(pk=reading.pk, read_at=None).update(read_at=now)
    reading.read_at = reading.read_at or now
