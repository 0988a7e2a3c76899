"""The Celery app: a doorbell for work that is in the database (see evaluation.background)."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, worker_process_init, worker_ready, worker_shutdown

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


@worker_process_init.connect
def guard(**_: Any) -> None:
    """Have the process that works watched, so that no turn holds it for ever."""
    from evaluation.background import guarding

    guarding.start()


@worker_ready.connect
def announce(**_: Any) -> None:
    """Say that a worker listens, as long as it does."""
    from evaluation.background import liveness

    liveness.announcer.start()


@worker_shutdown.connect
def withdraw(**_: Any) -> None:
    """Say that it listens no more."""
    from evaluation.background import liveness

    liveness.announcer.stop()
