"""Files that were taken into a question set, so that each can be taken out again."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet, QuestionSetVersion


class Import(Record):
    """One file, and what it brought; the row stays when the import is undone.

    What came says by `brought_by` with which import: answers, answers of models and the models
    that these made, questions, passages. Rows that are older than this table say nothing, and no
    import can be undone that brought them. `n_new` rows of the file said something new (of a file
    of questions or passages also those that gave one a text that it lacked), `n_unchanged` what
    was there before. `publishes` says that the import published its version, which therefore goes
    too where nothing is left of it; `version` is None then. `imported_by` is None for a file that
    the command line read.
    """

    class What(models.TextChoices):
        """What the rows of the file are."""

        ANSWERS = "answers", "answers"
        MODEL_ANSWERS = "model_answers", "answers of models"
        QUESTIONS = "questions", "questions"
        PASSAGES = "passages", "passages"

    access = Access(question_set="question_set", readers=VIEWERS)

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="imports", db_index=False
    )
    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.SET_NULL, null=True, related_name="imports"
    )
    number = models.PositiveIntegerField(help_text="Of the version.")
    file = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    imported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="imports"
    )
    n_new = models.PositiveIntegerField()
    n_unchanged = models.PositiveIntegerField()
    n_questions = models.PositiveIntegerField(default=0, help_text="That were made by it.")
    n_workers = models.PositiveIntegerField(default=0, help_text="That were not known before.")
    what = models.CharField(max_length=13, choices=What.choices, default=What.ANSWERS)
    n_passages = models.PositiveIntegerField(default=0, help_text="That were made by it.")
    n_models = models.PositiveIntegerField(default=0, help_text="That were not known before.")
    publishes = models.BooleanField(default=False)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(n_new__gte=1), name="import_brought_something"),
            models.CheckConstraint(
                condition=Q(what__in=["answers", "model_answers", "questions", "passages"]),
                name="import_of_what_is_known",
            ),
        ]
        indexes = [models.Index(fields=["question_set", "-id"], name="import_newest")]

    def __str__(self) -> str:
        return f"{self.file} into {self.question_set}"
