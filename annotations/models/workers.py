"""Models of workers, and of notes about them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import EDITORS, VIEWERS, Access
from annotations.models.base import Record
from annotations.models.notes import Note


class Worker(Record):
    """A person who answers questions, identified by panel and id on that panel.

    The same id in another panel, or of another owner, is another row.
    """

    access = Access(
        owner="owner",
        answered_in="submissions__version__question_set",
        owned_where_answered=True,
        readers=VIEWERS,
    )

    # An index below begins with this column, so it needs none of its own.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="workers", db_index=False
    )
    panel = models.CharField(max_length=100, blank=True, help_text="Where the id comes from.")
    external_id = models.CharField(max_length=255)
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When the texts of the worker were erased."
    )

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


class WorkerNote(Note):
    """A user's note about a worker, such as why not to invite them again.

    Read by its author, by the worker's owner, and by editors of a set in which the worker answered.
    Viewers of a set see answers, but not opinions about workers.
    """

    access = Access(
        owner="worker__owner",
        answered_in="worker__submissions__version__question_set",
        people="author",
        readers=EDITORS,
    )

    # An index below begins with this column, so it needs none of its own.
    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="notes", db_index=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="worker_notes"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="worker_note_says_something"),
        ]
        indexes = [models.Index(fields=["worker", "-id"], name="worker_note_newest")]
