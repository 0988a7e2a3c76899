"""Uploaded files of expert-graded answers, used to compare methods."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotations.models import VIEWERS, Access, QuestionSet, Record

LONGEST_NAME = 300


class GradedAnswers(Record):
    """Current file of graded answers of a question set; a new upload replaces it.

    They need not be answers to questions of the set. `marked` is
    `annotations.exchange.graded.MarkedFile` as JSON, in which workers are numbers: their ids are
    not kept. `created_at` is when the set got its first file.
    """

    access = Access(question_set="question_set", readers=VIEWERS)

    question_set = models.OneToOneField(
        QuestionSet, on_delete=models.CASCADE, related_name="graded_answers"
    )
    name = models.CharField(max_length=LONGEST_NAME)
    sha256 = models.CharField(max_length=64)
    marked = models.JSONField()
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="graded_answers"
    )

    class Meta:
        verbose_name_plural = "graded answers"

    def __str__(self) -> str:
        return f"{self.name} of {self.question_set}"
