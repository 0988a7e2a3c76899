"""Django app configuration of the evaluation app."""

from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string


class EvaluationConfig(AppConfig):
    """Configuration of the evaluation app; connects its signal receivers."""

    name = "evaluation"

    def ready(self) -> None:
        """Connect the receivers of withdrawn answers, payment decisions and submissions."""
        from annotations.answering.submission_signal import submission_stored
        from annotations.answering.withdrawals import withdrawing
        from annotations.ledger.decision_signal import decisions_stored

        withdrawing.connect(erase_copies, dispatch_uid="evaluation.erasing")
        decisions_stored.connect(mirror_decisions, dispatch_uid="evaluation.triage")
        submission_stored.connect(record_submission, dispatch_uid="evaluation.webhooks")


def erase_copies(sender: Any, **sent: Any) -> None:
    """Erase copies of a worker's withdrawn answers (signal receiver)."""
    import_string("evaluation.deletion.storage.erasing.request_copy_erasure")(sender, **sent)


def mirror_decisions(sender: Any, decisions: Any, **sent: Any) -> None:
    """Record payment decisions as verdicts about workers (signal receiver)."""
    import_string("evaluation.triage.storage.copy_decisions_to_verdicts")(decisions)


def record_submission(sender: Any, submission: Any, **sent: Any) -> None:
    """Record a webhook event if a submission has filled its collection (signal receiver)."""
    import_string("evaluation.webhooks.storage.record_full_collection")(submission)
