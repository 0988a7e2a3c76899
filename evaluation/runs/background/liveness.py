"""Report which background processes are running: each writes a sign of life to the database."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from annotations.web.numbers import TableCounts
from evaluation.models import BackgroundWorker
from evaluation.runs.background import request_process
from evaluation.runs.background.notification import notify_if_needed
from evaluation.runs.background.work import get_process_name

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_SIGNS = 5.0
# A worker that was silent for so long is taken for dead.
SILENCE = timedelta(seconds=20)
# What a page says to somebody who waits for nobody.
HOW_TO_START = (
    "No worker is running, so nothing will happen. Start one: `python manage.py up` runs the site "
    "and a worker; on a server, `celery -A crowdgrade worker`."
)


def is_any_running() -> bool:
    """Return whether any background process gave a sign of life in the last 20 seconds."""
    return _filter_running().exists()


def count_running() -> TableCounts:
    """Return the count of running background processes, as a part of `read_numbers`."""
    return TableCounts(_filter_running(), (Count("pk"),))


def _filter_running() -> QuerySet[BackgroundWorker]:
    """Return the rows of background processes with a sign of life in the last 20 seconds."""
    return BackgroundWorker.objects.filter(seen_at__gt=Now() - SILENCE)


class Announcer:
    """Writes this process's signs of life from its own thread, and wakes processes for runs.

    A lost message therefore costs seconds: any running process finds a run without a message, and a
    run whose process died.
    """

    def __init__(self, every: float = SECONDS_BETWEEN_SIGNS) -> None:
        self._every = every
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread of signs of life; a second call does nothing."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._announce, name="signs", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and delete this process's row of signs."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join(timeout=2 * self._every)
            self._thread = None

    def _announce(self) -> None:
        """Write a sign of life every few seconds; delete rows older than a day at the end."""
        name = get_process_name()
        try:
            while True:
                try:
                    BackgroundWorker.objects.update_or_create(
                        name=name, defaults={"seen_at": Now()}
                    )
                    notify_if_needed(request_process.get_own_lane())
                except DatabaseError as error:
                    logger.warning("no sign of life could be given: %s", error)
                    connection.close()
                if self._stop.wait(self._every):
                    break
            BackgroundWorker.objects.filter(name=name).delete()
            BackgroundWorker.objects.filter(seen_at__lt=Now() - timedelta(days=1)).delete()
        except DatabaseError as error:
            logger.warning("the worker's name stays on the list: %s", error)
        finally:
            connection.close()


announcer = Announcer()
