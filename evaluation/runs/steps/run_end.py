"""Store the failure of a run, and record the end of a run for webhooks in the same transaction."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.module_loading import import_string

from evaluation.models import Run

# A feature, which imports this package.
RECORD_RUN_END: Final = "evaluation.webhooks.storage.record_run_end"


@transaction.atomic
def store_failed_run(run_id: int, condition: Q, error: str, **changes: Any) -> bool:
    """Store a run as failed with the reason, if it meets a condition; return whether it did."""
    failed = Run.objects.filter(condition, pk=run_id).update(
        state=Run.State.FAILED, error=error, finished_at=Now(), lease_until=None, **changes
    )
    if failed:
        record_run_end(run_id)
    return bool(failed)


def record_run_end(run_id: int) -> None:
    """Record the events of a run that is done or failed; call it in the transaction of its end."""
    import_string(RECORD_RUN_END)(run_id)
