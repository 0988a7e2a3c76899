"""Django's entry for the evaluation app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Grades, exemplary answers and scores."""

    name = "evaluation"

    def ready(self) -> None:
        """Let copies of what a worker takes back go as well."""
        from annotations.answering import finishing
        from evaluation.background import erasing

        finishing.withdrawing.connect(erasing.withdrawing, dispatch_uid="evaluation.erasing")
