"""Model of submissions: one worker's participation in one version."""

from django.db import models
from django.db.models import F, Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSetVersion
from annotations.models.workers import Worker


class Submission(Record):
    """Worker's participation in a version, from the first click (or the import) to the end.

    Times are None if not recorded, as for imported answers.
    """

    class State(models.TextChoices):
        """State of a submission; only an open one takes answers from its worker."""

        OPEN = "open"
        SUBMITTED = "submitted"
        RETURNED = "returned"
        TIMED_OUT = "timed_out", "timed out"
        SCREENED_OUT = "screened_out", "screened out"

    class Source(models.TextChoices):
        """Origin of the answers: collected on this site, or imported."""

        COLLECTED = "collected", "answered here"
        IMPORTED = "imported", "from a file"

    class Device(models.TextChoices):
        """Kind of device used; `SEVERAL` if the worker submitted from another kind."""

        PHONE = "phone"
        TABLET = "tablet"
        COMPUTER = "computer"
        SEVERAL = "several"

    access = Access(question_set="version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="submissions", db_index=False
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="submissions")
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.COLLECTED)
    order_seed = models.PositiveBigIntegerField(
        default=0, help_text="Seed of the order of questions."
    )
    code = models.CharField(max_length=40, blank=True, help_text="Shown at the end, for the panel.")
    failed_checks = models.BooleanField(
        default=False,
        help_text="Handed in with fewer attention checks right than were asked for then.",
    )
    started_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    reserved_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when an open one keeps its place."
    )
    withdrawn_at = models.DateTimeField(
        null=True, blank=True, help_text="When its worker took the answers back."
    )
    signals_off = models.BooleanField(
        default=False,
        help_text="The worker uses assistive technology, or does not want counting.",
    )

    language = models.CharField(
        max_length=35, blank=True, help_text="In which its worker reads the texts, as in BCP 47."
    )
    device = models.CharField(
        max_length=8,
        choices=Device.choices,
        blank=True,
        help_text="The kind of device that its worker answers from; empty: not known.",
    )
    assistive = models.BooleanField(
        default=False,
        help_text="The worker stated the use of assistive technology. Shown for groups only.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "worker"], name="submission_once"),
            models.CheckConstraint(
                condition=Q(
                    state__in=["open", "submitted", "returned", "timed_out", "screened_out"]
                ),
                name="submission_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(source="imported")
                | (Q(source="collected") & (~Q(state="submitted") | Q(submitted_at__isnull=False))),
                name="submission_has_the_time_of_its_end",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True)
                | Q(started_at__isnull=True)
                | Q(submitted_at__gte=F("started_at")),
                name="submission_ends_after_its_start",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True) | Q(state="returned"),
                name="submission_withdrawn_is_returned",
            ),
            models.CheckConstraint(
                condition=Q(device__in=["", "phone", "tablet", "computer", "several"]),
                name="submission_device_is_known",
            ),
            models.CheckConstraint(
                condition=Q(device="", assistive=False)
                | Q(source="collected", withdrawn_at__isnull=True),
                name="submission_device_of_who_answers_here",
            ),
        ]
        indexes = [models.Index(fields=["version", "state", "id"], name="submission_list")]

    def __str__(self) -> str:
        return f"{self.worker} in {self.version}"
