"""Django app configuration of the annotations app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class AnnotationsConfig(AppConfig):
    """Configuration of the app for questions, workers and answers."""

    name = "annotations"

    def ready(self) -> None:
        """Connect the receivers that drop and recreate the database triggers at migrations."""
        from annotations import guards

        pre_migrate.connect(
            guards.drop_triggers_before_migrations, sender=self, dispatch_uid="annotations.guards"
        )
        post_migrate.connect(
            guards.create_triggers_after_migrations, sender=self, dispatch_uid="annotations.guards"
        )
