"""Follow a run in the terminal until it has ended or is paused."""

from __future__ import annotations

import time
from collections.abc import Callable

from evaluation.models import Run

SECONDS_BETWEEN_LOOKS = 0.5


def show_progress(run: Run, show: Callable[[str, int, int], None]) -> None:
    """Call `show` with the run's stage, done and total if it is running and has progress."""
    if run.state == Run.State.RUNNING and run.total:
        show(run.stage, run.done, run.total)


def follow_run(
    run: Run,
    show: Callable[[str, int, int], None],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Reload the run and show its progress repeatedly, until it has ended or is paused."""
    while True:
        run.refresh_from_db()
        if run.is_finished or run.state == Run.State.PAUSED:
            return
        show_progress(run, show)
        pause(SECONDS_BETWEEN_LOOKS)
