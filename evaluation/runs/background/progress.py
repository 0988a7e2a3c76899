"""Progress of runs for their pages, and signs of life of background processes.

Report which background processes are running; each writes a sign of life to the database. Compute
the progress of a run for its page and the page's script.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Count
from django.db.models.functions import Now
from django.utils import timezone

from annotations.web.numbers import TableCounts
from evaluation.models import BackgroundWorker, Run
from evaluation.models.runs import ACTIVE
from evaluation.runs.background import request_process
from evaluation.runs.background.leases import wake_process_if_needed
from evaluation.runs.background.run_tasks import cancel_stale_tasks
from evaluation.runs.background.work import get_process_name
from evaluation.runs.reports.work_log import count_tasks
from evaluation.runs.steps.run_tasks import WAITS_FOR_TASKS

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_SIGNS = 5.0
# What a page says to somebody who waits for nobody.
HOW_TO_START = (
    "No worker is running, so nothing will happen. Start one: `python manage.py up` runs the site "
    "and a worker; on a server, `celery -A crowdgrade worker`."
)


def is_any_process_running() -> bool:
    """Return whether any background process gave a sign of life in the last 20 seconds."""
    return BackgroundWorker.select_running().exists()


def count_running_processes() -> int:
    """Return the number of background processes with a sign of life in the last 20 seconds."""
    return BackgroundWorker.select_running().count()


def build_process_count() -> TableCounts:
    """Return the query that counts running background processes, for `load_table_counts`."""
    return TableCounts(BackgroundWorker.select_running(), (Count("pk"),))


class Announcer:
    """Stores a sign of life of this process every few seconds, from its own thread.

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
            self._thread = threading.Thread(target=self._store_signs, name="signs", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and delete this process's row of signs."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join(timeout=2 * self._every)
            self._thread = None

    def _store_signs(self) -> None:
        """Store a sign of life every few seconds until stopped; then delete outdated rows."""
        name = get_process_name()
        try:
            while True:
                try:
                    BackgroundWorker.objects.update_or_create(
                        name=name, defaults={"seen_at": Now()}
                    )
                    cancel_stale_tasks()
                    # For this process's own lane: it could not claim the runs of the other one.
                    wake_process_if_needed(request_process.get_own_lane())
                except DatabaseError as error:
                    logger.warning("no sign of life could be given: %s", error)
                    connection.close()
                if self._stop.wait(self._every):
                    break
            BackgroundWorker.objects.filter(name=name).delete()
            # Processes that were killed could not delete their own rows.
            BackgroundWorker.objects.filter(seen_at__lt=Now() - timedelta(days=1)).delete()
        except DatabaseError as error:
            logger.warning("the worker's name stays on the list: %s", error)
        finally:
            connection.close()


announcer = Announcer()


@dataclass(frozen=True)
class Progress:
    """The state and progress of a run, as its page shows it.

    `percent`, `rate` (steps per second), `seconds_left` and `left` (the same in words) are None
    while unknown. `waiting` is True if no background process is running.
    """

    state: str
    stage: str
    done: int
    total: int | None
    percent: int | None
    rate: float | None
    seconds_left: float | None
    left: str | None
    line: str
    finished: bool
    waiting: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the progress as plain values, ready for JSON."""
        return asdict(self)


def compute_progress(run: Run, now: datetime | None = None) -> Progress:
    """Return a run's state, stage, percentage, rate and time left, by default as of now."""
    now = now or timezone.now()
    percent = rate = seconds_left = left = None
    if run.state in (Run.State.RUNNING, Run.State.PAUSED) and run.total:
        percent = int(100 * run.done / run.total)
    if run.state == Run.State.RUNNING and run.total:
        began = run.stage_started_at
        seconds = 0.0 if began is None else (now - began).total_seconds()
        if run.done and seconds > 0:
            rate = run.done / seconds
            seconds_left = (run.total - run.done) / rate
            left = format_duration(seconds_left)
    return Progress(
        state=run.state,
        stage=run.stage,
        done=run.done,
        total=run.total,
        percent=percent,
        rate=None if rate is None else round(rate, 2),
        seconds_left=None if seconds_left is None else round(seconds_left, 1),
        left=left,
        line=_format_progress_line(run, rate, left),
        finished=run.is_finished,
        waiting=run.state in ACTIVE and not is_any_process_running(),
    )


def _format_progress_line(run: Run, rate: float | None, left: str | None) -> str:
    """Return the line on progress that the run's page shows; "" for a finished run."""
    if run.state == Run.State.QUEUED:
        return "Queued. It starts when a background process is free."
    if run.state == Run.State.PAUSED:
        how_far = f", after {run.done:,} of {run.total:,}" if run.total else ""
        return f"It is paused{how_far}."
    if run.state != Run.State.RUNNING:
        return ""
    if run.total is None or not run.stage:
        return "Loading the answers."
    line = f"{run.stage.capitalize()}: {run.done:,} of {run.total:,}"
    if run.lease_owner == WAITS_FOR_TASKS:
        line += f" ({count_tasks(run).format_counts()})"
    if rate is not None and left is not None and run.done < run.total:
        line += f", {format_rate(rate)}, {left} left"
    return line


def format_rate(rate: float) -> str:
    """Return a rate (per second) in words, such as "12 a minute"."""
    for seconds, unit in ((1, "second"), (60, "minute")):
        if rate * seconds >= 10:
            return f"{rate * seconds:,.0f} a {unit}"
        if rate * seconds >= 1:
            return f"{rate * seconds:.1f}".removesuffix(".0") + f" a {unit}"
    return f"{rate * 3600:.1f}".removesuffix(".0") + " an hour"


def format_duration(seconds: float) -> str:
    """Return a number of seconds in words, such as "3 min 20 s"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
