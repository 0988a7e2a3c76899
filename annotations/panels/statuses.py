"""Where submissions stand on their panel: its export taken in, with a history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from annotations.exchange.problems import Problems
from annotations.exchange.prolific import HANDED_IN, SETTLED
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.reading.panel_statuses import GivenStatus, StatusFile, read_statuses
from annotations.exchange.reading.source import Readable
from annotations.models import (
    PanelSession,
    PanelStatus,
    QuestionSetVersion,
    Response,
    Submission,
)
from annotations.models.panel_files import LONGEST_NAME
from annotations.panels.people import contradicted, decided_people, submission_in
from annotations.panels.sentences import REPORTS

BATCH = 500
PROLIFIC = "prolific"
KEPT = ("status", "session_id", "started_at", "completed_at", "seconds", "code")


@dataclass(slots=True)
class StatusReport:
    """What became of the rows; `n_rows == n_new + n_unchanged + the sum of strangers`.

    `by_status` counts the rows about people who took part here, `strangers` those about others, who
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
        """The report for a terminal, a line each."""
        yield f"{self.file} into {self.version}"
        n = sum(self.strangers.values())
        yield REPORTS.text(
            "submissions_in_file",
            n=self.n_rows,
            n_new=self.n_new,
            n_unchanged=self.n_unchanged,
            n_strangers=n,
        )
        yield REPORTS.text("took_part", counts=self.by_status)
        if n:
            yield REPORTS.text("did_not_take_part", counts=self.strangers)
        if self.n_missing:
            yield REPORTS.text("missing", n=self.n_missing)
        if self.kept_aside:
            yield REPORTS.text("columns_left_out", names=self.kept_aside)
        yield from (REPORTS.text("warning", warning=warning) for warning in self.warnings)
        if self.dry_run:
            yield REPORTS.text("dry_run")


def import_statuses(
    version: QuestionSetVersion,
    given: Readable,
    user: Any = None,
    *,
    instead: bool = False,
    dry_run: bool = False,
) -> StatusReport:
    """Keep what a panel's export says of the submissions of a version, all or nothing.

    A line that says what the newest one said adds nothing. With `instead` the submissions of files
    that were taken in before may be others: these were of another study.

    Raises `InputError` for bad rows, and for an export of another study: where nobody of it took
    part here, more than half of those who say to be done are unknown here, somebody is done under
    an id that no session of theirs has or that is another than in the last file, its study is none
    with which people came, or it has several.
    """
    file = read_statuses(given)
    problems = Problems(file.name)
    with transaction.atomic():
        there = _there(version)
        sessions = _sessions(version)
        _refuse_another_study(version, file, there, sessions, problems)
        newest = newest_statuses([one.pk for one in there.values()])
        if not instead:
            _refuse_other_submissions(file, there, sessions, newest, problems)
        problems.raise_if_any()
        new, known = _news(file, there, newest, user, instead=instead)
        PanelStatus.objects.bulk_create(new, batch_size=BATCH)
        contradictions = list(contradicted(decided_people(version)))
        if dry_run:
            transaction.set_rollback(True)
    found = {row.participant for row in known}
    return StatusReport(
        file=file.name,
        version=str(version),
        n_rows=len(file.rows),
        n_new=len(new),
        n_unchanged=len(known) - len(new),
        by_status=dict(Counter(row.status for row in known)),
        strangers=dict(Counter(row.status for row in file.rows if row.participant not in found)),
        n_missing=len(there) - len(found),
        kept_aside=file.kept_aside,
        warnings=[*file.warnings, *_gone_back(new, newest), *contradictions],
        dry_run=dry_run,
    )


def newest_statuses(submissions: Any) -> dict[int, PanelStatus]:
    """Return where each of a query of submissions stands on its panel, by its key; one query."""
    rows = PanelStatus.objects.filter(submission__in=submissions).order_by("pk")
    return {row.submission_id: row for row in rows}


def counted_statuses(version: QuestionSetVersion | int) -> dict[str, int]:
    """Return how many submissions of a version stand where on their panel."""
    newest = newest_statuses(Submission.objects.filter(version=version).values("pk"))
    return dict(Counter(row.status for row in newest.values()))


def _there(version: QuestionSetVersion) -> dict[str, Submission]:
    """Return the submissions of those who may be Prolific's, locked, by the panel's ids.

    Locked, so that of two who take the same file in at once the second adds nothing.
    """
    rows = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    rows = rows.filter(version=version).exclude(worker__panel=MTURK).select_related("worker")
    # Where one id is there in two panels, the export is about Prolific's.
    ours = sorted(rows, key=lambda one: one.worker.panel.casefold() == PROLIFIC)
    return {one.worker.external_id: one for one in ours}


def _news(
    file: StatusFile,
    there: dict[str, Submission],
    newest: dict[int, PanelStatus],
    user: Any,
    *,
    instead: bool,
) -> tuple[list[PanelStatus], list[GivenStatus]]:
    """Return what is new, and the rows about people who took part."""
    new: list[PanelStatus] = []
    known = [row for row in file.rows if row.participant in there]
    for row in known:
        one = there[row.participant]
        before = newest.get(one.pk)
        # What the panel told of the submission once still holds when it withholds its id, but not
        # where that was another study's.
        session = row.submission or (before.session_id if before and not instead else "")
        says = dict(
            zip(
                KEPT,
                (
                    *(row.status, session, row.started_at, row.completed_at),
                    *(row.seconds, row.code),
                ),
                strict=True,
            )
        )
        if before is None or any(getattr(before, name) != says[name] for name in KEPT):
            new.append(
                PanelStatus(
                    submission=one,
                    **says,
                    file=file.name[:LONGEST_NAME],
                    sha256=file.sha256,
                    recorded_by=user,
                )
            )
    return new, known


def _gone_back(new: list[PanelStatus], newest: dict[int, PanelStatus]) -> Iterator[str]:
    """Warn where somebody whom the panel had settled is under way again by the file."""
    back = [
        (before.status, row.status)
        for row in new
        if (before := newest.get(row.submission_id)) is not None
        and before.status in SETTLED
        and row.status not in SETTLED
    ]
    if back:
        was, now = back[0]
        yield REPORTS.text("settled_before", n=len(back), before=was, now=now)


def _refuse_another_study(
    version: QuestionSetVersion,
    file: StatusFile,
    there: dict[str, Submission],
    sessions: Mapping[int, set[str]],
    problems: Problems,
) -> None:
    came = PanelSession.objects.filter(submission__version=version).exclude(study_id="")
    studies = set(came.values_list("study_id", flat=True))
    named = [row for row in file.rows if row.study]
    other = next((row for row in named if row.study != named[0].study), None)
    if other is not None and not studies:
        problems.add_code(
            other.line,
            "Study id",
            "studies_differ",
            study=other.study[:40],
            first=named[0].study[:40],
            first_line=named[0].line,
        )
    if file.study and studies and file.study not in studies:
        known = ", ".join(sorted(studies)[:3])
        problems.add_code(None, None, "study_named_otherwise", study=file.study, known=known)
    for row in file.rows:
        if row.study and studies and row.study not in studies:
            problems.add_code(row.line, "Study id", "study_unknown", study=row.study[:40])
        one = there.get(row.participant)
        theirs = sessions.get(one.pk, set()) if one else set()
        if row.status in HANDED_IN and not _is_theirs(row, theirs):
            problems.add_code(
                row.line,
                "Submission id",
                "session_of_other_study",
                worker=row.participant[:40],
                session=row.submission[:40],
            )
    _refuse_strangers(file.rows, there, problems)


def _refuse_other_submissions(
    file: StatusFile,
    there: dict[str, Submission],
    sessions: Mapping[int, set[str]],
    newest: Mapping[int, PanelStatus],
    problems: Problems,
) -> None:
    """Refuse who is done with another submission than by the last file.

    Of people with whom no session came this is all that tells two studies of the same people
    apart, such as two waves. Who gave the submission back since may have begun another.
    """
    for row in file.rows:
        one = there.get(row.participant)
        if one is None or row.status not in HANDED_IN or sessions.get(one.pk):
            continue
        before = newest.get(one.pk)
        if before is None or before.status not in HANDED_IN or not before.session_id:
            continue
        if not _is_theirs(row, {before.session_id}):
            problems.add_code(
                row.line,
                "Submission id",
                "submission_of_other_study",
                worker=row.participant[:40],
                before=before.session_id[:40],
                now=row.submission[:40],
            )


def _is_theirs(row: GivenStatus, sessions: Collection[str]) -> bool:
    """Whether a row can be about one of somebody's sessions: where none is known, any can."""
    return not sessions or not row.submission or row.submission in sessions


def _sessions(version: QuestionSetVersion) -> dict[int, set[str]]:
    """Return the panel's sessions with which people came, by the keys of their submissions."""
    found: dict[int, set[str]] = {}
    came = PanelSession.objects.filter(submission__version=version)
    for key, session in came.values_list("submission", "session_id"):
        found.setdefault(key, set()).add(session)
    for key, kept in _kept(version):
        if session := submission_in(kept):
            found.setdefault(key, set()).add(session)
    return found


def _refuse_strangers(
    rows: Sequence[GivenStatus], there: dict[str, Submission], problems: Problems
) -> None:
    # A row from which the panel took the person away tells no study from another.
    named = [row for row in rows if row.participant]
    if named and not any(row.participant in there for row in named):
        problems.add_code(named[0].line, "Participant id", "participants_unknown")
        return
    done = [row for row in named if row.status in HANDED_IN]
    strange = [row for row in done if row.participant not in there]
    if 2 * len(strange) > len(done):
        problems.add_code(
            strange[0].line,
            "Participant id",
            "participants_mostly_unknown",
            n=len(strange),
            n_done=len(done),
            first=strange[0].participant[:40],
        )


def _kept(version: QuestionSetVersion) -> Iterator[tuple[int, Any]]:
    """Yield further cells that came with answers, by the keys of their submissions."""
    rows = Response.objects.filter(submission__version=version).exclude(extra={})
    return rows.order_by().values_list("submission", "extra").iterator()
