"""Import of a panel's export: the states of submissions, stored with their history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from annotations.exchange.problems import Problems
from annotations.exchange.prolific import HANDED_IN, SETTLED
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.reading.panel_statuses import StatusFile, StatusRow, read_statuses
from annotations.exchange.reading.source import Readable
from annotations.models import PanelSession, PanelStatus, QuestionSetVersion, Response, Submission
from annotations.models.panel_files import LONGEST_NAME
from annotations.panels.people import (
    describe_contradictions,
    find_submission_id,
    load_submissions_with_decisions,
)
from annotations.panels.sentences import REPORTS

BATCH = 500
PROLIFIC = "prolific"
STORED_COLUMNS = ("status", "session_id", "started_at", "completed_at", "seconds", "code")


@dataclass(slots=True)
class StatusReport:
    """Result of importing a panel's export: counts of rows by outcome, and warnings.

    `n_rows == n_new + n_unchanged + sum(strangers.values())`.

    `by_status` counts the rows about workers who took part here. `strangers` counts the others, who
    never began here or began under another id.
    """

    file: str
    version: str
    n_rows: int
    n_new: int
    n_unchanged: int
    by_status: dict[str, int]
    strangers: dict[str, int]
    n_missing: int
    kept_aside: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    dry_run: bool = False

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report for a terminal."""
        yield f"{self.file} into {self.version}"
        yield REPORTS.text(
            "submissions_in_file",
            n=self.n_rows,
            n_new=self.n_new,
            n_unchanged=self.n_unchanged,
            n_strangers=sum(self.strangers.values()),
        )
        yield from self.describe_outcomes()
        yield from (REPORTS.text("warning", warning=warning) for warning in self.warnings)
        if self.dry_run:
            yield REPORTS.text("dry_run")

    def describe_outcomes(self) -> Iterator[str]:
        """Yield sentences on who took part, who did not, who is missing, and unused columns."""
        yield REPORTS.text("took_part", counts=self.by_status)
        if self.strangers:
            yield REPORTS.text("did_not_take_part", counts=self.strangers)
        if self.n_missing:
            yield REPORTS.text("missing", n=self.n_missing)
        if self.kept_aside:
            yield REPORTS.text("columns_left_out", names=self.kept_aside)


def import_statuses(
    version: QuestionSetVersion,
    source: Readable,
    user: Any = None,
    *,
    instead: bool = False,
    dry_run: bool = False,
) -> StatusReport:
    """Import the states of a version's submissions from a panel's export: all rows or none.

    A row without a change adds nothing. Pass `instead` if earlier imports were of another study;
    submissions may then have other ids than before. With `dry_run`, nothing is stored.

    Raises `InputError` for invalid rows, and for the export of another study:
    - none of its workers took part here, or more than half of the finished ones are unknown;
    - a worker finished under an id of no known session, or another id than in the last import;
    - it names several studies, or a study without participants here.
    """
    file = read_statuses(source)
    problems = Problems(file.name)
    with transaction.atomic():
        submissions = _lock_submissions(version)
        sessions = _load_session_ids(version)
        _check_study(version, file, submissions, sessions, problems)
        newest = load_newest_statuses([submission.pk for submission in submissions.values()])
        if not instead:
            _check_submission_ids(file, submissions, sessions, newest, problems)
        problems.raise_if_any()
        new, known = _build_new_statuses(file, submissions, newest, user, instead=instead)
        PanelStatus.objects.bulk_create(new, batch_size=BATCH)
        contradictions = list(describe_contradictions(load_submissions_with_decisions(version)))
        # After all checks and writes, so that a dry run finds the same problems.
        if dry_run:
            transaction.set_rollback(True)
    seen = {row.participant for row in known}
    return StatusReport(
        file=file.name,
        version=str(version),
        n_rows=len(file.rows),
        n_new=len(new),
        n_unchanged=len(known) - len(new),
        by_status=dict(Counter(row.status for row in known)),
        strangers=dict(Counter(row.status for row in file.rows if row.participant not in seen)),
        n_missing=len(submissions) - len(seen),
        kept_aside=file.kept_aside,
        warnings=[*file.warnings, *_warn_about_reopened(new, newest), *contradictions],
        dry_run=dry_run,
    )


def load_newest_statuses(submissions: Any) -> dict[int, PanelStatus]:
    """Return the newest state on the panel of each submission, by key; one query."""
    rows = PanelStatus.objects.filter(submission__in=submissions).order_by("pk")
    return {row.submission_id: row for row in rows}


def count_statuses(version: QuestionSetVersion | int) -> dict[str, int]:
    """Return the number of a version's submissions by state on the panel."""
    newest = load_newest_statuses(Submission.objects.filter(version=version).values("pk"))
    return dict(Counter(row.status for row in newest.values()))


def _lock_submissions(version: QuestionSetVersion) -> dict[str, Submission]:
    """Lock the submissions that may come from Prolific; return them by participant id.

    The lock makes simultaneous imports of one file serial: the second adds nothing.
    """
    rows = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    # A worker without a panel may be Prolific's: survey files do not name it.
    rows = rows.filter(version=version).exclude(worker__panel=MTURK).select_related("worker")
    # If two panels have the same id, the export is about Prolific's: it is last and wins.
    ordered = sorted(rows, key=lambda row: row.worker.panel.casefold() == PROLIFIC)
    return {row.worker.external_id: row for row in ordered}


def _build_new_statuses(
    file: StatusFile,
    submissions: dict[str, Submission],
    newest: dict[int, PanelStatus],
    user: Any,
    *,
    instead: bool,
) -> tuple[list[PanelStatus], list[StatusRow]]:
    """Return the changed statuses to store, and the export's rows on workers who took part."""
    new: list[PanelStatus] = []
    known = [row for row in file.rows if row.participant in submissions]
    for row in known:
        submission = submissions[row.participant]
        before = newest.get(submission.pk)
        # An export may omit the id that an earlier one gave. Keep it unless of another study.
        session = row.submission or (before.session_id if before and not instead else "")
        values = dict(
            zip(
                STORED_COLUMNS,
                (
                    *(row.status, session, row.started_at, row.completed_at),
                    *(row.seconds, row.code),
                ),
                strict=True,
            )
        )
        if before is None or any(getattr(before, name) != values[name] for name in STORED_COLUMNS):
            new.append(
                PanelStatus(
                    submission=submission,
                    **values,
                    file=file.name[:LONGEST_NAME],
                    sha256=file.sha256,
                    recorded_by=user,
                )
            )
    return new, known


def _warn_about_reopened(new: list[PanelStatus], newest: dict[int, PanelStatus]) -> Iterator[str]:
    """Yield a warning if submissions are active in the export but had a final status before."""
    reopened = [
        (before.status, row.status)
        for row in new
        if (before := newest.get(row.submission_id)) is not None
        and before.status in SETTLED
        and row.status not in SETTLED
    ]
    if reopened:
        status_before, status_now = reopened[0]
        yield REPORTS.text("settled_before", n=len(reopened), before=status_before, now=status_now)


def _check_study(
    version: QuestionSetVersion,
    file: StatusFile,
    submissions: dict[str, Submission],
    sessions: Mapping[int, set[str]],
    problems: Problems,
) -> None:
    """Record a problem if the export is from another study or from several studies."""
    panel_sessions = PanelSession.objects.filter(submission__version=version).exclude(study_id="")
    studies = set(panel_sessions.values_list("study_id", flat=True))
    named = [row for row in file.rows if row.study]
    different = next((row for row in named if row.study != named[0].study), None)
    if different is not None and not studies:
        problems.add_code(
            different.line,
            "Study id",
            "studies_differ",
            study=different.study[:40],
            first=named[0].study[:40],
            first_line=named[0].line,
        )
    if file.study and studies and file.study not in studies:
        known = ", ".join(sorted(studies)[:3])
        problems.add_code(None, None, "study_named_otherwise", study=file.study, known=known)
    for row in file.rows:
        if row.study and studies and row.study not in studies:
            problems.add_code(row.line, "Study id", "study_unknown", study=row.study[:40])
        submission = submissions.get(row.participant)
        known_sessions = sessions.get(submission.pk, set()) if submission else set()
        if row.status in HANDED_IN and not _may_match_sessions(row, known_sessions):
            problems.add_code(
                row.line,
                "Submission id",
                "session_of_other_study",
                worker=row.participant[:40],
                session=row.submission[:40],
            )
    _check_participants(file.rows, submissions, problems)


def _check_submission_ids(
    file: StatusFile,
    submissions: dict[str, Submission],
    sessions: Mapping[int, set[str]],
    newest: Mapping[int, PanelStatus],
    problems: Problems,
) -> None:
    """Record a problem if a worker's finished submission differs from the last import.

    Without known sessions only this distinguishes two studies of the same workers, such as two
    waves. A worker who returned the earlier submission may have begun another.
    """
    for row in file.rows:
        submission = submissions.get(row.participant)
        # Known sessions were compared in `_check_study`, which is the stricter check.
        if submission is None or row.status not in HANDED_IN or sessions.get(submission.pk):
            continue
        before = newest.get(submission.pk)
        if before is None or before.status not in HANDED_IN or not before.session_id:
            continue
        if not _may_match_sessions(row, {before.session_id}):
            problems.add_code(
                row.line,
                "Submission id",
                "submission_of_other_study",
                worker=row.participant[:40],
                before=before.session_id[:40],
                now=row.submission[:40],
            )


def _may_match_sessions(row: StatusRow, sessions: Collection[str]) -> bool:
    """Return whether a row may describe one of the sessions; True without known sessions."""
    return not sessions or not row.submission or row.submission in sessions


def _load_session_ids(version: QuestionSetVersion) -> dict[int, set[str]]:
    """Return the known panel session ids of each submission, by its key."""
    sessions: dict[int, set[str]] = {}
    panel_sessions = PanelSession.objects.filter(submission__version=version)
    for key, session in panel_sessions.values_list("submission", "session_id"):
        sessions.setdefault(key, set()).add(session)
    for key, cells in _load_extra_cells(version):
        if session := find_submission_id(cells):
            sessions.setdefault(key, set()).add(session)
    return sessions


def _check_participants(
    rows: Sequence[StatusRow], submissions: dict[str, Submission], problems: Problems
) -> None:
    """Record a problem if the export's workers, or most who finished, are unknown here."""
    # Prolific removes the id of deleted participants; such rows say nothing about the study.
    named = [row for row in rows if row.participant]
    if named and not any(row.participant in submissions for row in named):
        problems.add_code(named[0].line, "Participant id", "participants_unknown")
        return
    finished = [row for row in named if row.status in HANDED_IN]
    unknown = [row for row in finished if row.participant not in submissions]
    if 2 * len(unknown) > len(finished):
        problems.add_code(
            unknown[0].line,
            "Participant id",
            "participants_mostly_unknown",
            n=len(unknown),
            n_done=len(finished),
            first=unknown[0].participant[:40],
        )


def _load_extra_cells(version: QuestionSetVersion) -> Iterator[tuple[int, Any]]:
    """Yield (submission key, extra columns) of each imported answer that has any."""
    rows = Response.objects.filter(submission__version=version).exclude(extra={})
    return rows.order_by().values_list("submission", "extra").iterator()
