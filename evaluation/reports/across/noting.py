"""Who writes notes about a worker."""

from __future__ import annotations

from annotations.models import QuestionSet, Worker
from annotations.models.access import Anybody


def may_note(user: Anybody, worker: Worker) -> bool:
    """Return whether a user who sees a worker may write notes.

    The owner, and who may change a set that the worker answered in.
    """
    if Worker.objects.editable_by(user).filter(pk=worker.pk).exists():
        return True
    sets = QuestionSet.objects.editable_by(user)
    return worker.submissions.filter(version__question_set__in=sets).exists()
