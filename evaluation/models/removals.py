"""Deletions that background processes carry out in batches of rows."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotations.models import Access, Import, Record

IMPORT = "import"


class Removal(Record):
    """Object that is being deleted, undone or erased, by its primary key.

    `done` of `total` rows are gone. Every batch is a transaction of its own and may be done twice
    without harm, so nobody holds it: whichever worker has time goes on, also after a crash.
    `pending` is what is still needed to find the rest, emptied in the end. `asked_by` is None where
    a worker took their own answers back.
    """

    access = Access(owner="owner", people="asked_by")

    kind = models.CharField(max_length=20)
    target = models.PositiveBigIntegerField()
    target_id = models.UUIDField()
    name = models.CharField(max_length=300)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="removals_of_own"
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="removals"
    )
    counts = models.JSONField(default=dict, blank=True)
    inputs = models.JSONField(default=list, blank=True)
    pending = models.JSONField(default=dict, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "target_id"], name="removal_once"),
            models.CheckConstraint(
                condition=Q(done__lte=F("total")), name="removal_of_no_more_than_all"
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"], condition=Q(finished_at__isnull=True), name="removal_unfinished"
            ),
        ]

    def __str__(self) -> str:
        return f"removal of {self.name}"

    @property
    def words(self) -> str:
        """Description of the deletion, for a page."""
        undone, erased = "is being undone", "is being erased"
        return {"import": undone, "worker": erased, "submission": erased}.get(
            self.kind, "is being deleted"
        )

    @property
    def percent(self) -> int:
        """Progress of the deletion in percent, 0 to 100."""
        if self.finished_at is not None:
            return 100
        return min(99, int(100 * self.done / max(1, self.total)))


def being_undone(question_set: int) -> bool:
    """Return whether an import of a question set is being undone now."""
    imports = Import.objects.filter(question_set=question_set, undone_at=None).values("public_id")
    return Removal.objects.filter(kind=IMPORT, finished_at=None, target_id__in=imports).exists()
