"""Send the message that runs may wait for work; a lost message only delays a run."""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError

from evaluation.models import Removal, Run
from evaluation.models.interims import interims_wait
from evaluation.runs.background.leases import filter_claimable
from evaluation.runs.steps.checkpoints import Lane

logger = logging.getLogger(__name__)

# The task by its name: whoever rings need not know what is done then.
WORK = "evaluation.tasks.work"


def notify_on_commit() -> None:
    """Wake the background processes once the surrounding transaction is committed."""
    transaction.on_commit(notify)


def notify() -> bool:
    """Wake the background processes; log and return False if the broker cannot take a message.

    The run is in the database, and `notify_if_needed` will ring for it again.
    """
    try:
        current_app.send_task(WORK)
    except (ChannelError, OperationalError, OSError) as error:
        logger.warning("the broker cannot be reached, the run waits: %s", error)
        return False
    return True


def notify_if_needed(lane: Lane | None = None) -> bool:
    """Wake the background processes if a run can be claimed or data has to be deleted.

    Or an interim grading is due, or is done and not told yet. With `lane` only for runs in that.
    Returns whether it rang.
    """
    waits = Run.objects.filter(filter_claimable(lane)).exists()
    removes = waits or Removal.objects.filter(finished_at=None).exists()
    return (removes or interims_wait()) and notify()
