"""Background processes and their last sign of life."""

from django.db import models

from annotations.models import UNLISTED


class BackgroundWorker(models.Model):
    """A background process and its last sign of life, by the database's clock.

    Rows belong to nobody: they say whether anybody listens, not what anybody does.
    """

    access = UNLISTED

    name = models.CharField(max_length=200, unique=True, help_text="Host and process id.")
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
