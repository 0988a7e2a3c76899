"""What pictures of a run need that is too large for its summary and no table of its own."""

from __future__ import annotations

from django.db import models

from evaluation.models.grades import Result
from evaluation.models.runs import Run


class RunPicture(Result):
    """The numbers of one picture of a run, by its name; made at grading so that pages are quick."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="pictures", db_index=False)
    name = models.CharField(max_length=50)
    data = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="run_picture_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.run_id}"
