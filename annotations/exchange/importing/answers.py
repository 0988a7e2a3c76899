"""Answers of workers, from a file into a version."""

from __future__ import annotations

import os

from django.utils import timezone

from annotations.models import (
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Worker,
    new_public_id,
)

from ..answers import DEFAULT_COLUMNS, AnswerFile, read_answers, same_text
from ..header import ColumnNames
from ..problems import Problems
from ..questions import LONGEST
from ..records import AnswerRecord
from .report import ImportReport
from .rows import add_rows
from .target import (
    BATCH,
    IDS,
    add_questions,
    all_or_nothing,
    chunks,
    locked,
    questions_of,
    quoted,
    version_of,
)

LONGEST_ID = LONGEST["question"]


def import_answers(
    question_set: QuestionSet,
    path: str | os.PathLike[str],
    *,
    columns: ColumnNames = DEFAULT_COLUMNS,
    panel: str = "",
    version: int | None = None,
    create_questions: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Add a file's answers to a version of the set (the latest, if no number is given).

    A draft is published by it, because from now on answers quote its wording. Workers are the
    set's owner's, of the `panel`; unknown ones are made. Questions the version does not have are
    an error, or made without a text by `create_questions`. Raises `InputError` with every bad row;
    one is also an answer that is there already with another text. Then nothing is stored.
    """
    file = read_answers(path, columns)
    problems = Problems(file.name)
    first_lines = _first_lines(file, problems)
    with all_or_nothing(dry_run):
        target = version_of(locked(question_set), version, file.name)
        n_questions = add_questions(target, list(first_lines), file.name) if create_questions else 0
        questions = questions_of(target, first_lines, problems)
        problems.raise_if_any()
        workers, n_workers = _workers(file, question_set, panel)
        submissions, old = _submissions(target, workers)
        fresh = _fresh(file, questions, submissions, old, problems)
        problems.raise_if_any()
        _store(file, fresh, questions, submissions)
        notes = _published(target, file.name)
    return ImportReport(
        what="answers",
        file=file.name,
        sha256=file.sha256,
        question_set=question_set.name,
        version=target.number,
        n_rows=file.n_rows,
        n_new=len(fresh),
        n_unchanged=len(file.records) - len(fresh),
        n_repeated=file.n_repeated,
        n_empty=file.n_empty,
        created={"workers": n_workers, "questions": n_questions},
        kept_aside=file.kept_aside,
        notes=notes,
        warnings=file.warnings,
        dry_run=dry_run,
    )


def _first_lines(file: AnswerFile, problems: Problems) -> dict[str, int]:
    """Where each question first stands; ids that are too long are noted."""
    lines: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for record in file.records:
        lines[0].setdefault(record.question, record.line)
        lines[1].setdefault(record.worker, record.line)
    for what, first in zip(("question", "worker"), lines, strict=True):
        for name, line in first.items():
            if len(name) > LONGEST_ID:
                reason = f"the id has {len(name):,} characters, more than {LONGEST_ID}"
                problems.add(line, what, reason, "Shorten it everywhere.")
    problems.raise_if_any()
    return lines[0]


def _workers(file: AnswerFile, question_set: QuestionSet, panel: str) -> tuple[dict[int, str], int]:
    """The ids of the file's workers by their keys, in the file's order, and how many are new."""
    names = list(dict.fromkeys(record.worker for record in file.records))
    owned = Worker.objects.filter(owner_id=question_set.owner_id, panel=panel)

    def keys() -> dict[str, int]:
        return {
            name: key
            for some in chunks(names, IDS)
            for name, key in owned.filter(external_id__in=some).values_list("external_id", "pk")
        }

    known = keys()
    unknown = [name for name in names if name not in known]
    # An import into another set may make the same workers at this moment: no conflict.
    Worker.objects.bulk_create(
        (Worker(owner_id=question_set.owner_id, panel=panel, external_id=n) for n in unknown),
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    if unknown:
        known = keys()
    return {known[name]: name for name in names}, len(unknown)


def _submissions(
    version: QuestionSetVersion, workers: dict[int, str]
) -> tuple[dict[str, int], list[int]]:
    """The keys of the submissions by the ids of their workers, and those that were there before."""

    def keys() -> dict[str, int]:
        return {
            workers[worker]: key
            for some in chunks(workers, IDS)
            for worker, key in version.submissions.filter(worker__in=some).values_list(
                "worker_id", "pk"
            )
        }

    known = keys()
    old = list(known.values())
    unknown = [key for key, name in workers.items() if name not in known]
    add_rows(
        Submission,
        ("public_id", "worker"),
        ((new_public_id(), key) for key in unknown),
        {
            "created_at": timezone.now(),
            "version": version.pk,
            "state": Submission.State.SUBMITTED.value,
            "source": Submission.Source.IMPORTED.value,
            "order_seed": 0,
            "code": "",
            "started_at": None,
            "last_seen_at": None,
            "submitted_at": None,
        },
    )
    return (keys() if unknown else known), old


def _fresh(
    file: AnswerFile,
    questions: dict[str, int],
    submissions: dict[str, int],
    old: list[int],
    problems: Problems,
) -> list[AnswerRecord]:
    """The records that are not there yet; those that contradict what is there are noted."""
    if not old:
        return file.records
    known = set(old)
    waiting = {
        (submission, questions[record.question]): record
        for record in file.records
        if (submission := submissions[record.worker]) in known
    }
    unchanged: set[int] = set()
    for some in chunks(old, IDS):
        found = Response.objects.filter(submission__in=some).values_list(
            "submission_id", "question_id", "text", "created_at"
        )
        for submission, question, text, since in found.iterator(chunk_size=BATCH):
            record = waiting.get((submission, question))
            if record is None:
                continue
            unchanged.add(record.row)
            if not same_text(text, record.text):
                problems.add(
                    record.line,
                    None,
                    f"worker {record.worker} answered question {record.question} already "
                    f"(stored on {since:%Y-%m-%d}: {quoted(text)}), with another text",
                    "Stored answers are not overwritten: correct the row or leave it out.",
                )
    return [record for record in file.records if record.row not in unchanged]


def _store(
    file: AnswerFile,
    fresh: list[AnswerRecord],
    questions: dict[str, int],
    submissions: dict[str, int],
) -> None:
    now = timezone.now()
    add_rows(
        Response,
        ("public_id", "submission", "question", "text", "status", "extra"),
        (
            (
                new_public_id(),
                submissions[record.worker],
                questions[record.question],
                record.text,
                Response.Status.TEXT.value if record.text else Response.Status.EMPTY.value,
                file.extra(record),  # noqa: S610
            )
            for record in fresh
        ),
        {
            "created_at": now,
            "updated_at": now,
            "submitted_at": None,
            "state": Response.State.SUBMITTED.value,
            "rejected": False,
            "revision": 1,
        },
    )


def _published(version: QuestionSetVersion, file: str) -> list[str]:
    if not version.publish():
        return []
    return [f"Version {version.number} is published now: its wording stays as it is."]
