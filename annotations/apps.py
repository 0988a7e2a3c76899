"""Django's entry for the annotations app."""

from django.apps import AppConfig


class AnnotationsConfig(AppConfig):
    """Questions, workers and answers."""

    name = "annotations"
