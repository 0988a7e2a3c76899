"""Django's entry for the annotations app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class AnnotationsConfig(AppConfig):
    """Questions, workers and answers."""

    name = "annotations"

    def ready(self) -> None:
        """Keep the database's triggers as `guards` wants them."""
        from annotations import guards

        pre_migrate.connect(guards.before_migrate, sender=self, dispatch_uid="annotations.guards")
        post_migrate.connect(guards.after_migrate, sender=self, dispatch_uid="annotations.guards")
