"""A panel's batch file as imported, so that it can be exported again with the decisions."""

from __future__ import annotations

from django.db import models

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record, Scoped
from annotations.models.question_sets import QuestionSetVersion
from annotations.models.submissions import Submission

LONGEST_NAME = 200
"""Most characters of a file's name, and of an assignment's id."""


class PanelFile(Record):
    """An imported batch file of a panel; `header` holds its column names."""

    access = Access(question_set="version__question_set", readers=VIEWERS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="panel_files"
    )
    name = models.CharField(max_length=LONGEST_NAME)
    header = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.name} of {self.version}"


class PanelRow(Scoped):
    """A row of a panel's batch file with its cells; deleted with the worker's answers.

    `assignment` is the panel's id of the assignment; "" if the file has none.
    """

    access = Access(question_set="file__version__question_set", readers=VIEWERS)

    # An index below begins with this column, so it needs none of its own.
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
