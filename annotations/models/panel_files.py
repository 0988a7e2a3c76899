"""A panel's own file as it was imported, to be given back with what was decided."""

from __future__ import annotations

from django.db import models

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record, Scoped
from annotations.models.question_sets import QuestionSetVersion
from annotations.models.submissions import Submission

LONGEST_NAME = 200


class PanelFile(Record):
    """A batch of a panel: its name, and its header as a list of names in their order."""

    access = Access(question_set="version__question_set", readers=VIEWERS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="panel_files"
    )
    name = models.CharField(max_length=LONGEST_NAME)
    header = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.name} of {self.version}"


class PanelRow(Scoped):
    """A row of it, which goes with the answers of its worker: a cell for each name in the header.

    `assignment` is the panel's id of the work that the row is about; "" where the file has none.
    """

    access = Access(question_set="file__version__question_set", readers=VIEWERS)

    file = models.ForeignKey(
        PanelFile, on_delete=models.CASCADE, related_name="rows", db_index=False
    )
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="panel_rows")
    position = models.PositiveIntegerField()
    assignment = models.CharField(max_length=LONGEST_NAME, blank=True, db_index=True)
    cells = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["file", "position"], name="panel_row_has_its_place"),
        ]

    def __str__(self) -> str:
        return f"row {self.position} of {self.file}"
