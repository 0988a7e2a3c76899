"""Django's entry for the evaluation app."""

from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string


class EvaluationConfig(AppConfig):
    """Grades, exemplary answers and scores."""

    name = "evaluation"

    def ready(self) -> None:
        """Erase copies of what a worker takes back; record payment decisions as verdicts."""
        from annotations.answering.withdrawals import withdrawing
        from annotations.ledger.decision_signal import decisions_stored

        withdrawing.connect(erase_copies, dispatch_uid="evaluation.erasing")
        decisions_stored.connect(mirror_decisions, dispatch_uid="evaluation.triage")


def erase_copies(sender: Any, **sent: Any) -> None:
    """Erase the copies of what a worker takes back; erasing is loaded by the first call."""
    import_string("evaluation.deletion.storage.erasing.withdrawing")(sender, **sent)


def mirror_decisions(sender: Any, decisions: Any, **sent: Any) -> None:
    """Record payment decisions as verdicts; triage is loaded by the first call."""
    import_string("evaluation.triage.storage.mirror_decisions")(decisions)
