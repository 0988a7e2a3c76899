"""Disclosure that a worker uses assistive technology, which the worker can revoke.

The statement is close to health data. It serves one purpose: to test whether rules for pay or
rejection disadvantage workers who use assistive technology. It is read for groups only. No page,
file or REST endpoint shows it for one worker.
"""

from __future__ import annotations

from django.db import transaction

from annotations.answering import signals
from annotations.models import Submission


@transaction.atomic
def record_assistive_use(submission: Submission, *, used: bool) -> None:
    """Store whether a worker uses assistive technology, as the worker states.

    Does nothing for a submission that was withdrawn or imported. If the collection counts writing
    signals, a worker who states the use is no longer counted.
    """
    eligible = Submission.objects.filter(pk=submission.pk, withdrawn_at=None).filter(
        source=Submission.Source.COLLECTED
    )
    if not eligible.update(assistive=used):
        return
    submission.assistive = used
    # Without counting, `signals_off` stays: it is shown with the answers and would disclose the
    # statement.
    if used and submission.version.collection.signals:
        signals.switch_signal_counting(submission, off=True)
