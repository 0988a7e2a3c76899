"""What a run keeps that is too large for its summary and needs no table of its own."""

from __future__ import annotations

from django.db import models

from evaluation.models.grades import Result
from evaluation.models.runs import Run


class RunData(Result):
    """Something a run made, as JSON by its name: the numbers of a picture, rows of a table.

    Or what a turn put aside for the next one (`evaluation.steps.checkpoints.Turn.keep`).
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="data", db_index=False)
    name = models.CharField(max_length=50)
    data = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="run_data_once"),
        ]
        # A reply is looked for by its key among all runs of an owner.
        indexes = [models.Index(fields=["name"], name="run_data_by_name")]

    def __str__(self) -> str:
        return f"{self.name} of {self.run_id}"
