"""Answers of workers, from a file into a version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from django.utils import timezone

from annotations.exchange.header import ColumnNames
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.rows import add_rows
from annotations.exchange.importing.stage import Stage, StagedAnswer, extra_values
from annotations.exchange.importing.target import (
    BATCH,
    IDS,
    add_questions,
    chunks,
    questions_of,
    quoted,
    storing,
    target_of,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS, AnswerRows, same_text
from annotations.exchange.reading.duplicates import Duplicates, note_of
from annotations.exchange.reading.questions import LONGEST
from annotations.exchange.reading.source import Readable
from annotations.models import (
    COUNTERS,
    Import,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Worker,
    new_public_id,
)

LONGEST_ID = LONGEST["question"]
NOT_COUNTED = (None,) * len(COUNTERS)

NOT_OVERWRITTEN = "Stored answers are not overwritten: correct the row or leave it out."
REFLAG = (
    "Import it with “Update which answers were rejected” to store the flags of the file.",
    "Import it with --update-flags to store the flags of the file.",
)


def import_answers(
    question_set: QuestionSet,
    path: Readable,
    *,
    columns: ColumnNames = DEFAULT_COLUMNS,
    panel: str = "",
    duplicates: Duplicates = Duplicates.REFUSE,
    version: int | None = None,
    create_questions: bool = False,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a file's answers to a version of the set (the latest, if no number is given).

    A draft is published by it, because from now on answers quote its wording. Workers are the
    set's owner's, of the `panel`; unknown ones are made. Questions the version does not have are
    an error, or made without a text by `create_questions`; so is a question that a worker answered
    twice, unless `duplicates` says which answer counts. Our own export brings the panels,
    times and flags of its answers along. Raises `InputError` with every bad row; one is also an
    answer that is there already with another text, time or flag (`update_flags` stores the flag
    instead), or of a worker who took theirs back. Then nothing is stored. What is new can be taken
    out again by its `Import`, which says who brought it: `imported_by`, a user's key.
    """
    with stage_answers(path, columns=columns, panel=panel, duplicates=duplicates) as stage:
        return store_staged(
            question_set,
            stage,
            version=version,
            create_questions=create_questions,
            update_flags=update_flags,
            dry_run=dry_run,
            imported_by=imported_by,
        )


def stage_answers(
    path: Readable,
    *,
    columns: ColumnNames = DEFAULT_COLUMNS,
    panel: str = "",
    duplicates: Duplicates = Duplicates.REFUSE,
) -> Stage:
    """Read a file of answers to its end; to be closed. Raises `InputError` with every bad row."""
    stage = Stage()
    try:
        stage.fill(AnswerRows(path, columns, duplicates), panel, duplicates)
    except BaseException:
        stage.close()
        raise
    return stage


def store_staged(
    question_set: QuestionSet,
    stage: Stage,
    *,
    version: int | None = None,
    create_questions: bool = False,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add the answers of a file that was read; as `import_answers`."""
    with storing(dry_run):
        target = target_of(question_set, version, stage.file.name, dry_run=dry_run)
        fresh: list[str] = []
        if create_questions:
            fresh = add_questions(target, list(stage.questions), stage.file.name, dry_run=dry_run)
        report = store_answers(
            stage,
            target,
            update_flags=update_flags,
            fresh=fresh,
            imported_by=imported_by,
            dry_run=dry_run,
        )
    report.created["questions"] = len(fresh)
    report.notes.extend(stage.file.notes)
    return report


def store_answers(
    stage: Stage,
    target: QuestionSetVersion,
    *,
    update_flags: bool = False,
    dry_run: bool = False,
    fresh: Sequence[str] = (),
    imported_by: int | None = None,
) -> ImportReport:
    """Store what is staged in a version whose set is locked; the caller holds the transaction.

    `fresh` are the ids of the questions that were made for it, or would be: a dry run only reads,
    and needs neither lock nor transaction.
    """
    file = stage.file
    stage.all_new()
    problems = Problems(file.name)
    _refuse_long_ids(stage, problems)
    questions = questions_of(target, stage.questions, problems, fresh if dry_run else ())
    problems.raise_if_any()
    keys = [questions[name] for name in stage.questions]
    workers, n_workers = _workers(stage, target.question_set, dry_run=dry_run)
    submissions, old = _submissions(target, stage, workers, dry_run=dry_run)
    _refuse_erased(stage, workers, list(old), problems)
    found = _compare(stage, keys, old, problems, update_flags=update_flags)
    problems.raise_if_any()
    n_new, published = stage.count("is_new"), _published(target, dry_run=dry_run)
    if not dry_run:
        for flag, primary_keys in found.reflagged.items():
            for some in chunks(primary_keys, IDS):
                Response.objects.filter(pk__in=some).update(
                    rejected=flag, updated_at=timezone.now()
                )
        brought_by = None
        if n_new:
            counts = {"n_new": n_new, "n_unchanged": stage.count() - n_new, "n_workers": n_workers}
            brought_by = _kept_import(
                stage, target, fresh, imported_by=imported_by, publishes=bool(published), **counts
            )
        _store(stage, file.kept_aside, keys, submissions, brought_by)
    return ImportReport(
        what="answers",
        file=file.name,
        sha256=file.sha256,
        question_set=target.question_set.name,
        version=target.number,
        n_rows=file.n_rows,
        n_new=n_new,
        n_unchanged=stage.count() - n_new,
        n_repeated=stage.n_repeated,
        n_empty=stage.count("text = ''"),
        n_rejected=stage.count("rejected"),
        n_reflagged=sum(map(len, found.reflagged.values())),
        n_superseded=stage.n_superseded,
        created={"workers": n_workers},
        kept_aside=tuple(file.kept_aside),
        notes=[*note_of(stage.n_superseded, stage.duplicates), *published],
        warnings=list(file.warnings),
        dry_run=dry_run,
    )


def _refuse_long_ids(stage: Stage, problems: Problems) -> None:
    ids = [("question", name, line) for name, line in stage.questions.items()]
    ids += [("worker", worker.name, worker.line) for worker in stage.workers]
    for what, name, line in ids:
        if len(name) > LONGEST_ID:
            reason = f"the id has {len(name):,} characters, more than {LONGEST_ID}"
            problems.add(line, what, reason, "Shorten it everywhere.")
    problems.raise_if_any()


def _kept_import(
    stage: Stage,
    target: QuestionSetVersion,
    fresh: Sequence[str],
    *,
    imported_by: int | None,
    **counts: Any,
) -> int:
    """Keep what a file brings, and return its key; the questions that it made know it."""
    brought_by = Import.objects.create(
        question_set_id=target.question_set_id,
        version=target,
        number=target.number,
        file=stage.file.name[:300],
        sha256=stage.file.sha256,
        imported_by_id=imported_by,
        n_questions=len(fresh),
        **counts,
    )
    for names in chunks(fresh, IDS):
        target.questions.filter(external_id__in=names).update(brought_by=brought_by)
    return int(brought_by.pk)


def _refuse_erased(
    stage: Stage, workers: list[int], submissions: list[int], problems: Problems
) -> None:
    """Note who took their answers back, from all sets or from this version: they stay away."""
    gone: dict[int, datetime | None] = {}
    for some in chunks(workers, IDS):
        rows = Worker.objects.filter(pk__in=some, erased_at__isnull=False)
        gone |= dict(rows.values_list("pk", "erased_at"))
    for some in chunks(submissions, IDS):
        back = Submission.objects.filter(pk__in=some, withdrawn_at__isnull=False)
        gone |= dict(back.values_list("worker_id", "withdrawn_at"))
    for worker, staged in zip(workers, stage.workers, strict=True):
        if worker in gone:
            problems.add(
                staged.line,
                "worker",
                f"the answers of {staged.name} were erased on {gone[worker]:%Y-%m-%d}, as people "
                "may ask for, and are not taken in again",
                "Leave all rows of this worker out.",
            )
    problems.raise_if_any()


def _workers(stage: Stage, question_set: QuestionSet, *, dry_run: bool) -> tuple[list[int], int]:
    """The keys of the staged workers, in their order, and how many are new.

    A dry run makes nobody: who is new has a key of nothing.
    """
    everybody = Worker.objects.filter(owner_id=question_set.owner_id)
    keys: dict[tuple[str, str], int] = {}
    n_new = 0
    by_panel = sorted(stage.workers, key=lambda worker: worker.panel)
    for panel, of_panel in groupby(by_panel, key=lambda worker: worker.panel):
        names = [worker.name for worker in of_panel]
        owned = everybody.filter(panel=panel)
        known = _by_name(owned, names)
        unknown = [name for name in names if name not in known]
        n_new += len(unknown)
        if dry_run:
            known |= {name: -place for place, name in enumerate(unknown, n_new)}
            keys |= {(panel, name): key for name, key in known.items()}
            continue
        # In the order of the file. An import into another set may make the same ones at this
        # moment: no conflict.
        Worker.objects.bulk_create(
            (Worker(owner_id=question_set.owner_id, panel=panel, external_id=n) for n in unknown),
            batch_size=BATCH,
            ignore_conflicts=True,
        )
        if unknown:
            known = _by_name(owned, names)
        keys |= {(panel, name): key for name, key in known.items()}
    return [keys[worker.panel, worker.name] for worker in stage.workers], n_new


def _by_name(owned: Any, names: Iterable[str]) -> dict[str, int]:
    return {
        name: key
        for some in chunks(names, IDS)
        for name, key in owned.filter(external_id__in=some).values_list("external_id", "pk")
    }


def _submissions(
    version: QuestionSetVersion, stage: Stage, workers: list[int], *, dry_run: bool
) -> tuple[list[int], dict[int, int]]:
    """The keys of the workers' submissions, and those there before with their worker's number.

    A dry run makes none: of who has none there is no key.
    """

    def keys() -> dict[int, int]:
        if version._state.adding:
            return {}
        return {
            worker: key
            for some in chunks(workers, IDS)
            for worker, key in version.submissions.filter(worker__in=some).values_list(
                "worker_id", "pk"
            )
        }

    known = keys()
    old = {known[key]: number for number, key in enumerate(workers) if key in known}
    if dry_run:
        return [], old
    unknown = [
        (key, staged)
        for key, staged in zip(workers, stage.workers, strict=True)
        if key not in known
    ]
    add_rows(
        Submission,
        ("public_id", "worker", "state", "started_at", "last_seen_at", "submitted_at"),
        (
            (
                new_public_id(),
                key,
                staged.state or Submission.State.SUBMITTED.value,
                staged.started_at,
                staged.last_seen_at,
                staged.submitted_at,
            )
            for key, staged in unknown
        ),
        {
            "created_at": timezone.now(),
            "version": version.pk,
            "source": Submission.Source.IMPORTED.value,
            "order_seed": 0,
            "code": "",
            "reserved_until": None,
            "withdrawn_at": None,
            "signals_off": False,
        },
    )
    if unknown:
        known = keys()
    return [known[key] for key in workers], old


@dataclass(slots=True)
class _Found:
    """Keys of stored answers whose flag is to become True or False."""

    reflagged: dict[bool, list[int]] = field(default_factory=lambda: {True: [], False: []})


def _compare(
    stage: Stage, keys: list[int], old: dict[int, int], problems: Problems, *, update_flags: bool
) -> _Found:
    """Mark what is stored already, and note what contradicts it."""
    found = _Found()
    places = {key: number for number, key in enumerate(keys)}
    names = list(stage.questions)
    for some in chunks(old, IDS):
        stored = Response.objects.filter(submission__in=some).values_list(
            *("submission_id", "question_id", "text", "created_at", "pk"),
            *("rejected", "started_at", "submitted_at", "first_draft_at", "work_seconds"),
            *("signals", *COUNTERS),
        )
        rows = []
        for submission, question, text, since, key, flag, *facts in stored.iterator(BATCH):
            worker, place = old[submission], places.get(question)
            staged = None if place is None else stage.find(worker, place)
            if staged is None or place is None:
                continue
            rows.append(staged.row)
            what, remedy = _difference(staged, text, flag, facts), (NOT_OVERWRITTEN, "")
            if what == "flag":
                if update_flags:
                    found.reflagged[bool(staged.rejected)].append(key)
                    continue
                remedy = REFLAG
            if what:
                problems.add(
                    staged.line,
                    None,
                    f"worker {stage.workers[worker].name} answered question {names[place]} "
                    f"already (stored on {since:%Y-%m-%d}: {quoted(text)}), with another {what}",
                    *remedy,
                )
        stage.mark_old(rows)
    return found


def _difference(
    staged: StagedAnswer, text: str, rejected: bool, stored: list[datetime | float | str | None]
) -> str:
    """In what a file contradicts a stored answer; what it does not say contradicts nothing."""
    if not same_text(text, staged.text):
        return "text"
    times = (_time(staged.started), _time(staged.submitted), _time(staged.first_draft))
    given = (*times, staged.seconds)
    if any(new is not None and new != old for new, old in zip(given, stored[:4], strict=True)):
        return "time"
    if staged.signals is not None and [*_signals(staged)] != stored[4:]:
        return "count of how it was written"
    # An ordinary file says nothing about flags, and then nothing is rejected in it.
    if staged.rejected is not None and bool(staged.rejected) != rejected:
        return "flag"
    return ""


def _time(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


def _signals(staged: StagedAnswer) -> tuple[str | int | None, ...]:
    """The columns from `signals` on."""
    if staged.signals is None:
        return ("", *NOT_COUNTED)
    said, *counts = json.loads(staged.signals)
    return (said, *(counts or NOT_COUNTED))


def _store(
    stage: Stage,
    kept_aside: list[str],
    questions: list[int],
    submissions: list[int],
    brought_by: int | None,
) -> None:
    now = timezone.now()
    add_rows(
        Response,
        (
            *("public_id", "submission", "question", "text", "status", "rejected"),
            *("started_at", "submitted_at", "work_seconds", "extra", "first_draft_at"),
            *("signals", *COUNTERS),
        ),
        _responses(stage, kept_aside, questions, submissions),
        {
            "created_at": now,
            "updated_at": now,
            "state": Response.State.SUBMITTED.value,
            "revision": 1,
            "signal_pages": {},
            "brought_by": brought_by,
        },
    )


def _responses(
    stage: Stage, kept_aside: list[str], questions: list[int], submissions: list[int]
) -> Iterator[tuple[Any, ...]]:
    answered, empty = Response.Status.TEXT.value, Response.Status.EMPTY.value
    for answer in stage.fresh():
        yield (
            new_public_id(),
            submissions[answer.worker],
            questions[answer.question],
            answer.text,
            answered if answer.text else empty,
            bool(answer.rejected),
            _time(answer.started),
            _time(answer.submitted),
            answer.seconds,
            extra_values(answer.extra, kept_aside),
            _time(answer.first_draft),
            *_signals(answer),
        )


def _published(version: QuestionSetVersion, *, dry_run: bool) -> list[str]:
    if version.is_published if dry_run else not version.publish():
        return []
    return [f"Version {version.number} is published now: its wording stays as it is."]
