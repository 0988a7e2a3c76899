"""Interim gradings of the answers so far, while a collection is open."""

from __future__ import annotations

from django.db import models
from django.db.models import Count, Exists, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import VIEWERS, Access, Collection, Scoped, Submission
from evaluation.models.runs import FINISHED, Run

FEWEST = 3
"""People who must have handed in: fewer cannot be graded."""


class Interim(Scoped):
    """Grading of the answers that `n_people` workers had submitted when it was requested.

    `found` is what the page of the collecting says of it, worked out in the background once the run
    is done; it names no worker, so that nothing of who withdraws stays in it. None before.
    """

    access = Access(question_set="collection__version__question_set", readers=VIEWERS)

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="interims")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="interim")
    n_people = models.PositiveIntegerField()
    by_itself = models.BooleanField(default=False)
    found = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return f"interim of {self.n_people} people"


def handed_in() -> QuerySet[Submission]:
    """Select the submissions that workers completed here."""
    return Submission.objects.filter(
        state=Submission.State.SUBMITTED, source=Submission.Source.COLLECTED
    )


def untold() -> QuerySet[Interim]:
    """Select finished interim gradings whose page texts are not computed yet."""
    # "found=None" would ask for the null of JSON, which nothing here is.
    return Interim.objects.filter(run__state=Run.State.DONE, found__isnull=True)


def due() -> QuerySet[Collection]:
    """Select collections with enough submissions since the last interim grading for a new one."""
    done = handed_in().filter(version=OuterRef("version")).order_by().values("version")
    latest = Interim.objects.filter(collection=OuterRef("pk")).order_by("-pk")
    busy = latest.exclude(run__state__in=FINISHED)
    return (
        Collection.objects.filter(
            grade_every__isnull=False, version__question_set__archived_at__isnull=True
        )
        .annotate(
            n_done=Coalesce(
                Subquery(done.annotate(n=Count("pk")).values("n"), output_field=IntegerField()),
                0,
            ),
            n_before=Coalesce(
                Subquery(latest.values("n_people")[:1], output_field=IntegerField()), 0
            ),
        )
        .filter(~Exists(busy), n_done__gte=F("n_before") + F("grade_every"))
        .filter(n_done__gte=FEWEST)
    )


def interims_wait() -> bool:
    """Return whether a background process has work to do for interim gradings."""
    return untold().exists() or due().exists()
