"""Celery tasks of the evaluation app."""

from __future__ import annotations

from celery import shared_task

from evaluation.runs.background import request_process
from evaluation.runs.background.leases import wake_process_if_needed
from evaluation.runs.background.work import work_one_turn


# Both flags: with acks_late alone the message is lost if only the child process of a pool dies.
@shared_task(
    name="evaluation.tasks.work", ignore_result=True, acks_late=True, reject_on_worker_lost=True
)
def work_on_oldest_run() -> None:
    """Work on the oldest free run for some minutes; store and re-raise a failure."""
    work_one_turn(lane=request_process.get_own_lane())


@shared_task(name="evaluation.tasks.ring_again", ignore_result=True)
def notify_processes_again() -> None:
    """Notify background processes again if runs are queued but no process works on them."""
    wake_process_if_needed(request_process.get_own_lane())
