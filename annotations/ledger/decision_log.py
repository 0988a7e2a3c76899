"""Table of all decisions about the submissions of a version."""

from __future__ import annotations

from annotations.exchange.writing.formats import Table
from annotations.models import Decision, QuestionSetVersion

COLUMNS = ("worker", "panel", "decision", "category", "reason", "by", "at", "counts")


def build_decision_log_table(version: QuestionSetVersion) -> Table:
    """Return the table of all decisions on a version's submissions, oldest first.

    The column `counts` is true for the newest decision of each worker.
    """
    rows = list(
        Decision.objects.filter(submission__version=version)
        .order_by("pk")
        .values_list(
            *("submission__worker__external_id", "submission__worker__panel", "kind", "category"),
            *("reason", "decided_by__username", "created_at", "submission_id", "pk"),
        )
    )
    newest = {row[-2]: row[-1] for row in rows}
    return Table(
        COLUMNS,
        (
            (
                *row[:6],
                row[6].isoformat(timespec="seconds"),
                "true" if newest[row[-2]] == row[-1] else "false",
            )
            for row in rows
        ),
    )
