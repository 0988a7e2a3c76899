"""Start and end of the period in which a worker reads a passage (recall protocol).

A form opens the passage, never a link: a link preview or a robot must not start the clock. Reading
ends when the worker confirms it or at the deadline, by the server's clock. Then the passage is not
served to this submission again.
"""

from __future__ import annotations

from django.utils import timezone

from annotations.answering.errors import AnsweringError
from annotations.answering.progress import TEXT, AnswerPage, SurveyProgress
from annotations.models import Reading


def open_passage(progress: SurveyProgress, page: AnswerPage) -> Reading:
    """Start the reading period of a page's passage, or return the started one.

    Raises `AnsweringError`: gone after the reading ended, not_yet if another step comes first.
    """
    assert page.passage is not None
    reading = progress.find_reading(page)
    if reading is None:
        step = progress.find_next_step()
        if step.kind != TEXT or step.page != page.number:
            raise AnsweringError("not_yet")
        reading, _ = Reading.objects.get_or_create(
            submission=progress.submission,
            passage=page.passage,
            defaults={"opened_at": timezone.now()},
        )
        progress.readings[page.passage.pk] = reading
        # The reading opened after the progress was loaded, so an earlier `now` would be wrong.
        progress.now = timezone.now()
    if not progress.is_being_read(page):
        raise AnsweringError("gone")
    return reading


def finish_reading(progress: SurveyProgress, page: AnswerPage) -> None:
    """End the reading period of a page's passage; a second call changes nothing.

    Raises `AnsweringError`: not_yet if the passage was never opened.
    """
    reading = progress.find_reading(page)
    if reading is None:
        raise AnsweringError("not_yet")
    # The server's clock may have been set back: a reading never ends before it starts.
    now = max(reading.opened_at, min(timezone.now(), progress.compute_reading_deadline(reading)))
    Reading.objects.filter(pk=reading.pk, read_at=None).update(read_at=now)
    reading.read_at = reading.read_at or now
