"""Models of files imported into a question set, and of the facts that they join to answers.

Each import can be undone.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet, QuestionSetVersion


class Import(Record):
    """Record of an imported file with counts of its rows; it remains after an undo.

    Imported rows name their import in `brought_by`: answers, model replies and the models created
    for them, questions, passages, facts joined to answers. Rows older than this table name none,
    and cannot be undone.

    `n_new` rows of the file were new, or gave a question or passage its missing text. `n_unchanged`
    were known before. Of demographic data both count workers, and `columns` are the joined ones.
    `publishes`: the import published its version, which is deleted too once it is empty; `version`
    is None then. `imported_by` is None for the command line.
    """

    class What(models.TextChoices):
        """Kind of the file's rows, such as answers or questions."""

        ANSWERS = "answers", "answers"
        MODEL_ANSWERS = "model_answers", "answers of models"
        QUESTIONS = "questions", "questions"
        PASSAGES = "passages", "passages"
        DEMOGRAPHICS = "demographics", "demographic data"

    access = Access(question_set="question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
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
    columns = models.JSONField(default=list, blank=True)
    publishes = models.BooleanField(default=False)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(n_new__gte=1), name="import_brought_something"),
            models.CheckConstraint(
                condition=Q(
                    what__in=[
                        *("answers", "model_answers", "questions", "passages", "demographics"),
                    ]
                ),
                name="import_of_what_is_known",
            ),
        ]
        indexes = [models.Index(fields=["question_set", "-id"], name="import_newest")]

    def __str__(self) -> str:
        return f"{self.file} into {self.question_set}"


class JoinedFacts(Record):
    """Values that a joined file added to one answer, and the values that they replaced.

    `stored` has the file's cells by column, `before` the earlier values of these columns; a column
    without one is missing there. `rejects`: the file flags the answer as rejected. `flagged`: it
    was the first to do so, so undoing it takes the flag back.
    """

    access = Access(question_set="response__submission__version__question_set", readers=VIEWERS)

    # Constraints and an index below begin with each of them.
    brought_by = models.ForeignKey(
        Import, on_delete=models.CASCADE, related_name="joined_facts", db_index=False
    )
    response = models.ForeignKey(
        "Response", on_delete=models.CASCADE, related_name="joined_facts", db_index=False
    )
    stored = models.JSONField(default=dict)
    before = models.JSONField(default=dict)
    rejects = models.BooleanField(default=False)
    flagged = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["brought_by", "response"], name="joined_facts_once_per_answer"
            ),
        ]
        indexes = [models.Index(fields=["response", "id"], name="joined_facts_of_answer")]

    def __str__(self) -> str:
        return f"facts of {self.response} from {self.brought_by}"
