"""The Celery app: a doorbell for work that is in the database (see evaluation.background)."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import (
    celeryd_init,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

from crowdgrade import lifeline

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")

app = Celery("crowdgrade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["evaluation"])


@celeryd_init.connect
def end_with_the_supervisor(**_: Any) -> None:
    """Do not outlive the process that keeps the worker running, and read no input."""
    lifeline.follow()
    lifeline.close_input()


@worker_init.connect
def divide(**_: Any) -> None:
    """Leave what waits for servers to a process beside this one, here and in its children."""
    from evaluation.background import asking

    asking.divide()


@worker_process_init.connect
def guard(**_: Any) -> None:
    """Have the process that works watched, so that no turn holds it for ever."""
    from evaluation.background import guarding

    guarding.start()


@worker_ready.connect
def announce(**_: Any) -> None:
    """Say that a worker listens, as long as it does, and start the process that asks."""
    from evaluation.background import asking, liveness

    asking.start()
    liveness.announcer.start()


@worker_shutting_down.connect
def end_asking(**_: Any) -> None:
    """Have the process that asks end, too, while this one finishes its turn."""
    from evaluation.background import asking

    asking.stop()


@worker_shutdown.connect
def withdraw(**_: Any) -> None:
    """Say that it listens no more, and wait for the process that asks."""
    from evaluation.background import asking, liveness

    asking.stop()
    asking.wait()
    liveness.announcer.stop()
