"""Who answers."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record


class Worker(Record):
    """A person under the id a panel gave; the same id in two panels, or of two owners, is two."""

    access = Access(
        owner="owner", answered_in="submissions__version__question_set", readers=VIEWERS
    )

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="workers", db_index=False
    )
    panel = models.CharField(max_length=100, blank=True, help_text="Where the id comes from.")
    external_id = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "panel", "external_id"], name="worker_once_per_owner_and_panel"
            ),
            models.CheckConstraint(condition=~Q(external_id=""), name="worker_has_an_id"),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="worker_list")]

    def __str__(self) -> str:
        return self.external_id
