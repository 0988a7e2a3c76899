"""Django's entry for the evaluation app."""

from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string


class EvaluationConfig(AppConfig):
    """Grades, exemplary answers and scores."""

    name = "evaluation"

    def ready(self) -> None:
        """Let copies of what a worker takes back go as well."""
        from annotations.answering.withdrawals import withdrawing

        withdrawing.connect(erase_copies, dispatch_uid="evaluation.erasing")


def erase_copies(sender: Any, **sent: Any) -> None:
    """Erase the copies of what a worker takes back; erasing is loaded by the first call."""
    import_string("evaluation.deletion.storage.erasing.withdrawing")(sender, **sent)
