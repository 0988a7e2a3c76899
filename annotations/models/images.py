"""Model of the images of passages."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS_AND_EXPERTS, Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet


class Image(Record):
    """Image of a question set's passages, re-encoded before it was stored; never changed.

    It is stored in the database, not in a folder. A database backup is thus complete, and several
    web servers share nothing but the database. Versions with the same image share its row; `sha256`
    is that of `content`.
    """

    class MediaType(models.TextChoices):
        """Media type of an image, sent with a header that forbids browsers to guess another."""

        PNG = "image/png", "PNG"
        JPEG = "image/jpeg", "JPEG"
        WEBP = "image/webp", "WebP"

    access = Access(question_set="question_set", readers=VIEWERS_AND_EXPERTS)

    # An index below begins with this column, so it needs none of its own.
    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="images", db_index=False
    )
    content = models.BinaryField()
    media_type = models.CharField(max_length=10, choices=MediaType.choices)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question_set", "sha256"], name="image_once_per_set"),
            models.CheckConstraint(
                condition=Q(media_type__in=["image/png", "image/jpeg", "image/webp"]),
                name="image_type_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.media_type}, {self.width} x {self.height}"
