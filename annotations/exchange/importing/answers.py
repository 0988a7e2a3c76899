"""Answers of workers, from a file into a version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Max
from django.utils import timezone

from annotations.exchange.header import ColumnNames
from annotations.exchange.importing.comparing import compare, refuse_erased, signals_of, time_of
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.rows import RowsAhead, add_rows, has_one_writer
from annotations.exchange.importing.stage import Stage, StagedAnswer, extra_values
from annotations.exchange.importing.target import (
    BATCH,
    IDS,
    add_questions,
    chunks,
    questions_of,
    storing,
    target_of,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS, AnswerRows
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
    options: dict[str, Any] = {
        "version": version,
        "create_questions": create_questions,
        "update_flags": update_flags,
        "imported_by": imported_by,
    }
    if not dry_run:
        make_ready(question_set, stage, **options)
    return _stored(question_set, stage, dry_run=dry_run, **options)


def make_ready(question_set: QuestionSet, stage: Stage, **options: Any) -> None:
    """Do of `store_staged`, which takes the same options, what keeps nobody waiting.

    It does so itself; whoever calls it inside a transaction calls this before.
    """
    look_ahead(stage, lambda: _stored(question_set, stage, dry_run=True, **options))


def _stored(
    question_set: QuestionSet,
    stage: Stage,
    *,
    dry_run: bool,
    version: int | None = None,
    create_questions: bool = False,
    **options: Any,
) -> ImportReport:
    name = stage.file.name
    with storing(dry_run):
        target = target_of(question_set, version, name, dry_run=dry_run)
        fresh: list[str] = []
        if create_questions:
            fresh = add_questions(target, list(stage.questions), name, dry_run=dry_run)
        report = store_answers(stage, target, fresh=fresh, dry_run=dry_run, **options)
    report.created["questions"] = len(fresh)
    report.notes.extend(stage.file.notes)
    return report


def look_ahead(stage: Stage, try_it: Callable[[], object] | None) -> None:
    """Do what storing answers needs no lock for, where a lock would keep everybody out.

    `try_it` is a dry run of storing them: whatever is wrong is told before anybody has to wait,
    and what it compared with stored answers is not compared again. None if it can be tried only
    inside the transaction. Then the rows are made ready, and are inserted by one statement.
    """
    if not has_one_writer() or stage.is_ready:
        return
    stage.all_new()
    if try_it is not None:
        # Keys grow: answers that others store from now on have larger ones.
        newest = Response.objects.aggregate(key=Max("pk"))["key"] or 0
        try_it()
        stage.compared_to = newest
    stage.get_ready(
        RowsAhead(
            Response,
            ROW,
            (
                (answer.row, _row(answer, stage.file.kept_aside, answer.worker, answer.question))
                for answer in stage.fresh()
            ),
            ("submission", "question"),
        )
    )


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
    and needs neither lock nor transaction. What `look_ahead` found is not looked at again.
    """
    file = stage.file
    if not stage.holds_for(target.pk):
        stage.all_new()
        stage.compared_in = target.pk
    problems = Problems(file.name)
    _refuse_long_ids(stage, problems)
    questions = questions_of(target, stage.questions, problems, fresh if dry_run else ())
    problems.raise_if_any()
    keys = [questions[name] for name in stage.questions]
    workers, n_workers = _workers(stage, target.question_set, imported_by, dry_run=dry_run)
    submissions, old = _submissions(target, stage, workers, dry_run=dry_run)
    refuse_erased(stage, workers, list(old), problems)
    compare(stage, keys, old, problems, update_flags=update_flags)
    problems.raise_if_any()
    n_new, published = stage.count("is_new"), _published(target, dry_run=dry_run)
    if not dry_run:
        for flag, primary_keys in stage.reflagged.items():
            for some in chunks(sorted(primary_keys), IDS):
                Response.objects.filter(pk__in=some).update(
                    rejected=flag, updated_at=timezone.now()
                )
        brought_by = None
        if n_new:
            counts = {"n_new": n_new, "n_unchanged": stage.count() - n_new, "n_workers": n_workers}
            brought_by = _kept_import(
                stage, target, fresh, imported_by=imported_by, publishes=bool(published), **counts
            )
        _store(stage, keys, submissions, brought_by)
        stage.is_ready = False
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
        n_reflagged=sum(map(len, stage.reflagged.values())),
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
            problems.add_code(line, what, "id_too_long", size=len(name), most=LONGEST_ID)
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


def _workers(
    stage: Stage, question_set: QuestionSet, imported_by: int | None, *, dry_run: bool
) -> tuple[list[int], int]:
    """The keys of the staged workers, in their order, and how many are new to who brings them.

    New to a member of the team is also who answered only in sets of the owner's that the member
    does not see: whether an id is known there is told to nobody. A dry run makes nobody: who is
    new has a key of nothing.
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
        n_new += len(unknown) + _n_hidden(known.values(), imported_by, question_set)
        if dry_run:
            known |= {name: -len(keys) - place for place, name in enumerate(unknown, 1)}
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


def _n_hidden(known: Iterable[int], imported_by: int | None, question_set: QuestionSet) -> int:
    """How many of the owner's workers are not to be seen by who brings their answers."""
    if imported_by in (None, question_set.owner_id):
        return 0
    seen = Worker.objects.visible_to(get_user_model()._default_manager.get(pk=imported_by))
    return sum(len(some) - seen.filter(pk__in=some).count() for some in chunks(known, IDS))


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
            "failed_checks": False,
            "reserved_until": None,
            "withdrawn_at": None,
            "signals_off": False,
            "language": "",
            "device": "",
            "assistive": False,
        },
    )
    if unknown:
        known = keys()
    return [known[key] for key in workers], old


ROW = (
    *("public_id", "submission", "question", "text", "status", "rejected"),
    *("started_at", "submitted_at", "work_seconds", "extra", "first_draft_at"),
    *("language", "signals", *COUNTERS),
)


def _store(
    stage: Stage,
    questions: list[int],
    submissions: list[int],
    brought_by: int | None,
) -> None:
    now = timezone.now()
    same = {
        "created_at": now,
        "updated_at": now,
        "state": Response.State.SUBMITTED.value,
        "revision": 1,
        "signal_pages": {},
        "brought_by": brought_by,
    }
    if stage.ahead is not None and stage.is_ready:
        stage.ahead.insert({"submission": submissions, "question": questions}, same)
        return
    aside = stage.file.kept_aside
    rows = (
        _row(answer, aside, submissions[answer.worker], questions[answer.question])
        for answer in stage.fresh()
    )
    add_rows(Response, ROW, rows, same)


def _row(
    answer: StagedAnswer, kept_aside: list[str], submission: int, question: int
) -> tuple[Any, ...]:
    """The values of the fields `ROW`."""
    return (
        new_public_id(),
        submission,
        question,
        answer.text,
        Response.Status.TEXT.value if answer.text else Response.Status.EMPTY.value,
        bool(answer.rejected),
        time_of(answer.started),
        time_of(answer.submitted),
        answer.seconds,
        extra_values(answer.extra, kept_aside),
        time_of(answer.first_draft),
        answer.language or "",
        *signals_of(answer),
    )


def _published(version: QuestionSetVersion, *, dry_run: bool) -> list[str]:
    if version.is_published if dry_run else not version.publish():
        return []
    return [f"Version {version.number} is published now: its wording stays as it is."]
