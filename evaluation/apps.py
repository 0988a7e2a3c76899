"""Django's entry for the evaluation app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Grades, exemplary answers and scores."""

    name = "evaluation"
