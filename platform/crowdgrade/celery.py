"""Celery app; its tasks only wake a background process, as the work is in the database."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import (
    before_task_publish,
    celeryd_init,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

from crowdgrade import lifeline, request_log

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")

app = Celery("crowdgrade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["evaluation"])


@celeryd_init.connect
def end_with_supervisor(**_: Any) -> None:
    """Make this process end with its supervisor, and replace its standard input."""
    lifeline.end_with_supervisor()
    lifeline.close_standard_input()


@before_task_publish.connect
def send_request_id(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Add the id of the current request to the headers of a task that is sent."""
    request_log.add_id_to_task(headers)


@task_prerun.connect
def restore_request_id(task: Any = None, **_: Any) -> None:
    """Set the request id of log records to that of the request that sent the task."""
    request_log.set_id_from_task(task.request)


@worker_init.connect
def limit_to_computing(**_: Any) -> None:
    """Limit this process to computing, as a separate process sends the model requests."""
    from evaluation.runs.background import request_process

    request_process.limit_to_computing()


@worker_process_init.connect
def start_process_guard(**_: Any) -> None:
    """Start the guard that kills this process if a step of a run blocks it."""
    from evaluation.runs.background import process_guard

    process_guard.start_guard()


@worker_ready.connect
def start_announcing(**_: Any) -> None:
    """Report regularly that this process runs, and start the process that sends model requests."""
    from evaluation.runs.background import progress, request_process

    request_process.start_request_process()
    progress.announcer.start()


@worker_shutting_down.connect
def stop_request_process(**_: Any) -> None:
    """Stop the process that sends model requests, while this process finishes its step."""
    from evaluation.runs.background import request_process

    request_process.stop_request_process()


@worker_shutdown.connect
def stop_announcing(**_: Any) -> None:
    """Stop the reports that this process runs, after the process of model requests has ended."""
    from evaluation.runs.background import progress, request_process

    request_process.stop_request_process()
    request_process.wait_for_request_process()
    progress.announcer.stop()
