"""The run of record of a set, as pages tell it: which it is, who chose it, whether data changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.models.runs_of_record import run_of_record, run_that_counts
from evaluation.reports.called import called
from evaluation.reports.changes import data_change


@dataclass(frozen=True)
class RecordStanding:
    """The grading that counts for a set.

    Attributes
    ----------
    run, called, version : the one that counts.
    chosen_by : who chose it, "" where nobody did. chosen_at : when; None where there is no run of
        record, and the newest that is done counts.
    newer : a run that was done after it, None without one; newer_called : what that is called.
    changed : whether a run would read other answers now. old_version : whether the set has a newer
        version.
    """

    run: UUID
    called: str
    version: int
    chosen_by: str
    chosen_at: datetime | None
    newer: UUID | None
    newer_called: str
    changed: bool
    old_version: bool

    @property
    def is_chosen(self) -> bool:
        """Whether a person chose it."""
        return bool(self.chosen_by)


def record_of(
    question_set: QuestionSet, latest: QuestionSetVersion | None = None
) -> RecordStanding | None:
    """Return the grading that counts for a set, None without any that is done; eight queries.

    `latest` is the set's latest version, where it is known.
    """
    done = Run.objects.filter(
        version__question_set=question_set,
        kind=GRADING,
        state=Run.State.DONE,
        archived_at=None,
    ).select_related("version")
    row = run_of_record(question_set, GRADING)
    run = run_that_counts(done) if row is None else row.run
    if run is None:
        return None
    newer = done.filter(pk__gt=run.pk).order_by("-pk").first()
    latest = latest or question_set.latest_version()
    return RecordStanding(
        run=run.public_id,
        called=called(run, AqerParameters).title,
        version=run.version.number,
        chosen_by=row.chosen_by.get_username() if row and row.chosen_by else "",
        chosen_at=row.chosen_at if row else None,
        newer=newer.public_id if newer else None,
        newer_called=called(newer, AqerParameters).title if newer else "",
        changed=data_change(run).of_people,
        old_version=latest is not None and latest.pk != run.version_id,
    )


def standing_of_record(run: Run) -> RecordStanding | None:
    """Return the same, for the page of a grading; None for a run of another kind."""
    return record_of(run.version.question_set) if run.kind == GRADING else None
