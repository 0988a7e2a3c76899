"""The official run of a question set: which it is, who chose it, and if answers changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.results.report.changes import DataChange, read_data_change
from evaluation.models import Run, RunOfRecord
from evaluation.models.runs import GRADING
from evaluation.runs.reports.run_titles import build_title


@dataclass(frozen=True)
class RecordStanding:
    """The official run of a question set, with what a page says about it.

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
        """Whether a user chose the run, so that it is not just the newest."""
        return bool(self.chosen_by)


@dataclass(frozen=True)
class RecordRuns:
    """The runs from which the official run of a question set is derived.

    Attributes
    ----------
    run : the one that counts; None without any that is done. row : says who chose it; None where it
        is only the newest. newer : the newest that is done, if it was made after `run`.
    others : runs that were read along.
    """

    run: Run | None
    row: RunOfRecord | None
    newer: Run | None
    others: list[Run]

    def standing(
        self, change: DataChange, latest: QuestionSetVersion | None
    ) -> RecordStanding | None:
        """Return the official run for a page; `change` says how answers changed since."""
        run, row, newer = self.run, self.row, self.newer
        if run is None:
            return None
        return RecordStanding(
            run=run.public_id,
            called=build_title(run, AqerParameters).title,
            version=run.version.number,
            chosen_by=row.chosen_by.get_username() if row and row.chosen_by else "",
            chosen_at=row.chosen_at if row else None,
            newer=newer.public_id if newer else None,
            newer_called=build_title(newer, AqerParameters).title if newer else "",
            changed=change.of_people,
            old_version=latest is not None and latest.pk != run.version_id,
        )


def read_record_runs(
    question_set: QuestionSet | int, others: QuerySet[Run] | None = None
) -> RecordRuns:
    """Return the official and the newest grading of a question set, and `others`; one query."""
    gradings = Run.objects.filter(
        version__question_set=question_set,
        kind=GRADING,
        state=Run.State.DONE,
        archived_at=None,
    ).order_by("-pk")
    chosen = RunOfRecord.objects.filter(
        question_set=question_set, kind=GRADING, run__archived_at__isnull=True
    )
    is_needed = Q(pk__in=chosen.values("run"))
    # As `run_that_counts` has it: one of the answers so far only where there is no other.
    for rows in (gradings, gradings.filter(interim__isnull=True), others):
        if rows is not None:
            is_needed |= Q(pk__in=rows.values("pk")[:1])
    gradings_found = list(
        Run.objects.filter(is_needed)
        .select_related("version", "of_record__chosen_by", "interim")
        .order_by("-pk")
    )
    other_type_runs = [run for run in gradings_found if run.kind != GRADING]
    gradings_found = [run for run in gradings_found if run.kind == GRADING]
    run = next((run for run in gradings_found if hasattr(run, "of_record")), None)
    row = run.of_record if run else None
    if run is None:
        complete = (run for run in gradings_found if not hasattr(run, "interim"))
        run = next(complete, gradings_found[0] if gradings_found else None)
    newer = gradings_found[0] if run and gradings_found[0].pk > run.pk else None
    return RecordRuns(run, row, newer, other_type_runs)


def read_official_run(
    question_set: QuestionSet | int, latest: QuestionSetVersion | None = None
) -> RecordStanding | None:
    """Return the official run of a question set; None without a finished grading.

    `latest` is the set's latest version, where it is known.
    """
    runs = read_record_runs(question_set)
    if runs.run is None:
        return None
    of_set = QuestionSetVersion.objects.filter(question_set=question_set)
    latest = latest or of_set.order_by("-number").first()
    return runs.standing(read_data_change(runs.run), latest)


def read_official_run_of(run: Run) -> RecordStanding | None:
    """Return the official run of a run's question set; None if the run is no grading."""
    return read_official_run(run.version.question_set_id) if run.kind == GRADING else None
