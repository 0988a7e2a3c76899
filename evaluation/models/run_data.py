"""Additional data of a run: page contents, and state kept between turns."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from evaluation.models.embeddings import has_length
from evaluation.models.grades import Result
from evaluation.models.runs import Run


class RunData(Result):
    """Named JSON value of a run, such as chart numbers or table rows.

    Or what a turn put aside for the next one (`evaluation.runs.steps.checkpoints.Turn.keep`).
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


class DrawPart(Result):
    """Some bootstrap draws of an unfinished run; deleted when the run ends.

    `raw` and `votes` hold a float64, little-endian, for each of `n_workers` workers and each draw
    from `first` on, workers by rows. `input_hash` is that of what the draws were made of: the part
    is of no use where the answers or the parameters changed between two turns.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="draw_parts")
    input_hash = models.CharField(max_length=64)
    first = models.PositiveIntegerField()
    n_draws = models.PositiveIntegerField()
    n_workers = models.PositiveIntegerField()
    raw = models.BinaryField()
    votes = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "first"], name="draw_part_once"),
            models.CheckConstraint(
                condition=Q(n_draws__gte=1)
                & has_length("raw", F("n_draws") * F("n_workers") * 8)
                & has_length("votes", F("n_draws") * F("n_workers") * 8),
                name="draw_part_is_whole",
            ),
        ]
        ordering = ["run", "first"]

    def __str__(self) -> str:
        return f"draws {self.first} to {self.first + self.n_draws - 1} of {self.run_id}"
