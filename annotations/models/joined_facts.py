"""Model of the facts that a demographic export added to an answer, so that it can be undone."""

from __future__ import annotations

from django.db import models

from annotations.models.access import VIEWERS, Access
from annotations.models.base import Record
from annotations.models.imports import Import
from annotations.models.responses import Response


class JoinedFacts(Record):
    """Facts that one joined file stored with one answer, and the values that it replaced.

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
        Response, on_delete=models.CASCADE, related_name="joined_facts", db_index=False
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
