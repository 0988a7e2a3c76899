"""A question set shown to somebody outside its team."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import EXPERT, VIEWER, Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet


class Share(Record):
    """What one user may see of one set; the user needs to be active, and nothing else."""

    class Role(models.TextChoices):
        """An expert judges answers without knowing whose they are or what they were graded."""

        VIEWER = VIEWER, "viewer"
        EXPERT = EXPERT, "expert"

    access = Access(question_set="question_set", people="user", managed=True)

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="shares", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares"
    )
    role = models.CharField(max_length=6, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question_set", "user"], name="share_once"),
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "expert"]), name="share_role_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_set} for {self.user}, {self.role}"
