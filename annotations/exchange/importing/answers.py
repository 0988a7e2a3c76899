"""Import the answers of workers from a file into a version of a question set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Max
from django.utils import timezone

from annotations.exchange.header import ColumnNames
from annotations.exchange.importing.comparison import (
    compare_with_stored_answers,
    list_signal_values,
    parse_staged_time,
    refuse_withdrawn_workers,
)
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.rows import PreparedRows, has_one_writer, insert_rows
from annotations.exchange.importing.stage import Stage, StagedAnswer, decode_extra_cells
from annotations.exchange.importing.target import (
    BATCH,
    IDS,
    create_missing_questions,
    lock_import_version,
    map_question_keys,
    open_transaction_unless_dry_run,
    split_in_chunks,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS, AnswerRows
from annotations.exchange.reading.duplicates import (
    DuplicateRule,
    Duplicates,
    describe_superseded,
)
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
    duplicates: DuplicateRule = Duplicates.REFUSE,
    version: int | None = None,
    create_questions: bool = False,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a file's answers to a version of a question set (by default the latest); return a report.

    The import publishes a draft, because from now on answers quote its wording. Workers belong to
    the set's owner and to the `panel`; unknown ones are created. Questions that the version does
    not have are an error, or created without a text by `create_questions`; a question that a worker
    answered twice is an error, unless `duplicates` decides which answer counts. Crowdgrade's own
    export brings the panels, times and flags of its answers along.

    Raises `InputError` with every bad row, including a stored answer with another text, time or
    flag (`update_flags` stores the flag instead), or an answer of a worker who withdrew. Then
    nothing is stored. The `Import` of the new answers can undo them; `imported_by` is the key of
    its user.
    """
    with stage_answers(path, columns=columns, panel=panel, duplicates=duplicates) as stage:
        return store_staged_answers(
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
    duplicates: DuplicateRule = Duplicates.REFUSE,
) -> Stage:
    """Read a file's answers into a `Stage` (a temporary store), which the caller must close.

    Raises `InputError` with every bad row.
    """
    stage = Stage()
    try:
        stage.fill(AnswerRows(path, columns, duplicates), panel, duplicates)
        stage.refuse_unknown_workers()
    except BaseException:
        stage.close()
        raise
    return stage


def store_staged_answers(
    question_set: QuestionSet,
    stage: Stage,
    *,
    version: int | None = None,
    create_questions: bool = False,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Store the answers of a `Stage` in a version of a question set; return the import's report."""
    options: dict[str, Any] = {
        "version": version,
        "create_questions": create_questions,
        "update_flags": update_flags,
        "imported_by": imported_by,
    }
    if not dry_run:
        prepare_answers(question_set, stage, **options)
    return _store_or_predict(question_set, stage, dry_run=dry_run, **options)


def prepare_answers(question_set: QuestionSet, stage: Stage, **options: Any) -> None:
    """Check the answers in a `Stage` and prepare their rows before the database is locked.

    `store_staged_answers` takes the same options and calls this itself; a caller inside a
    transaction calls it before the transaction.
    """
    prepare_stage(stage, lambda: _store_or_predict(question_set, stage, dry_run=True, **options))


def _store_or_predict(
    question_set: QuestionSet,
    stage: Stage,
    *,
    dry_run: bool,
    version: int | None = None,
    create_questions: bool = False,
    **options: Any,
) -> ImportReport:
    """Store the answers of a `Stage` in one transaction; in a dry run, predict the report."""
    name = stage.file.name
    with open_transaction_unless_dry_run(dry_run):
        target = lock_import_version(question_set, version, name, dry_run=dry_run)
        new_questions: list[str] = []
        if create_questions:
            new_questions = create_missing_questions(
                target, list(stage.questions), name, dry_run=dry_run
            )
        report = store_answers(stage, target, fresh=new_questions, dry_run=dry_run, **options)
    report.created["questions"] = len(new_questions)
    report.notes.extend(stage.file.notes)
    return report


def prepare_stage(stage: Stage, dry_run: Callable[[], object] | None) -> None:
    """Check and prepare a file's answers without the lock that blocks other users' writes.

    `dry_run` stores them as a dry run: faults are reported before any user has to wait, and what it
    compared with stored answers is not compared again. None if it can run only inside the
    transaction. Then the rows are prepared, and one statement inserts them.
    """
    # Other databases let everybody write while rows are inserted, so nothing would be gained.
    if not has_one_writer() or stage.is_ready:
        return
    stage.mark_all_as_new()
    if dry_run is not None:
        # Keys grow: answers that others store from now on have larger ones.
        newest = Response.objects.aggregate(key=Max("pk"))["key"] or 0
        dry_run()
        stage.compared_to = newest
    stage.set_prepared_rows(
        PreparedRows(
            Response,
            ROW,
            (
                (
                    answer.row,
                    _build_response_row(
                        answer, stage.file.kept_aside, answer.worker, answer.question
                    ),
                )
                for answer in stage.iterate_new_answers()
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
    """Store a file's answers in a version; the caller holds the transaction and the lock.

    `fresh` are the ids of the questions that were created for the file, or would be: a dry run only
    reads, and needs neither lock nor transaction. What `prepare_stage` compared is not compared
    again.
    """
    file = stage.file
    # The comparison before the lock may have been with another version.
    if not stage.is_ready_for(target.pk):
        stage.mark_all_as_new()
        stage.compared_in = target.pk
    problems = Problems(file.name)
    _refuse_long_ids(stage, problems)
    questions = map_question_keys(target, stage.questions, problems, fresh if dry_run else ())
    problems.raise_if_any()
    keys = [questions[name] for name in stage.questions]
    workers, n_workers = _create_workers(stage, target.question_set, imported_by, dry_run=dry_run)
    submissions, old_submissions = _create_submissions(target, stage, workers, dry_run=dry_run)
    refuse_withdrawn_workers(stage, workers, list(old_submissions), problems)
    compare_with_stored_answers(stage, keys, old_submissions, problems, update_flags=update_flags)
    problems.raise_if_any()
    n_new, published = stage.count_answers("is_new"), _publish_draft(target, dry_run=dry_run)
    if not dry_run:
        # `update` sets no `auto_now` field, so the time of the change is set here.
        for is_rejected, primary_keys in stage.reflagged.items():
            for chunk in split_in_chunks(sorted(primary_keys), IDS):
                Response.objects.filter(pk__in=chunk).update(
                    rejected=is_rejected, updated_at=timezone.now()
                )
        import_key = None
        if n_new:
            counts = {
                "n_new": n_new,
                "n_unchanged": stage.count_answers() - n_new,
                "n_workers": n_workers,
            }
            import_key = _create_import(
                stage, target, fresh, imported_by=imported_by, publishes=bool(published), **counts
            )
        _insert_new_answers(stage, keys, submissions, import_key)
        stage.is_ready = False
    return ImportReport(
        what="answers",
        file=file.name,
        sha256=file.sha256,
        question_set=target.question_set.name,
        version=target.number,
        n_rows=file.n_rows,
        n_new=n_new,
        n_unchanged=stage.count_answers() - n_new,
        n_repeated=stage.n_repeated,
        n_empty=stage.count_answers("text = ''"),
        n_rejected=stage.count_answers("rejected"),
        n_reflagged=sum(map(len, stage.reflagged.values())),
        n_superseded=stage.n_superseded,
        created={"workers": n_workers},
        kept_aside=tuple(file.kept_aside),
        notes=[*describe_superseded(stage.n_superseded, stage.duplicates), *published],
        warnings=list(file.warnings),
        dry_run=dry_run,
    )


def _refuse_long_ids(stage: Stage, problems: Problems) -> None:
    """Raise `InputError` with all worker and question ids longer than 255 characters, if any."""
    ids = [("question", name, line) for name, line in stage.questions.items()]
    ids += [("worker", worker.name, worker.line) for worker in stage.workers]
    for what, name, line in ids:
        if len(name) > LONGEST_ID:
            problems.add_code(line, what, "id_too_long", size=len(name), most=LONGEST_ID)
    problems.raise_if_any()


def _create_import(
    stage: Stage,
    target: QuestionSetVersion,
    fresh: Sequence[str],
    *,
    imported_by: int | None,
    **counts: Any,
) -> int:
    """Create the `Import` record of a file, link its new questions, and return its primary key."""
    new_import = Import.objects.create(
        question_set_id=target.question_set_id,
        version=target,
        number=target.number,
        file=stage.file.name[:300],
        sha256=stage.file.sha256,
        imported_by_id=imported_by,
        n_questions=len(fresh),
        **counts,
    )
    for names in split_in_chunks(fresh, IDS):
        target.questions.filter(external_id__in=names).update(brought_by=new_import)
    return int(new_import.pk)


def _create_workers(
    stage: Stage, question_set: QuestionSet, imported_by: int | None, *, dry_run: bool
) -> tuple[list[int], int]:
    """Create unknown workers; return the keys of all, in order, and how many the importer gets new.

    New to a member of the team is also a worker who answered only sets of the owner that the member
    cannot see: the member must not learn whether an id is known there. A dry run creates no worker:
    a new one has a negative key.
    """
    owner_workers = Worker.objects.filter(owner_id=question_set.owner_id)
    keys: dict[tuple[str, str], int] = {}
    n_new = 0
    # In the order of panels, as `groupby` joins only neighbours.
    by_panel = sorted(stage.workers, key=lambda worker: worker.panel)
    for panel, staged_workers in groupby(by_panel, key=lambda worker: worker.panel):
        names = [worker.name for worker in staged_workers]
        panel_workers = owner_workers.filter(panel=panel)
        known = _load_worker_keys(panel_workers, names)
        unknown = [name for name in names if name not in known]
        n_new += len(unknown) + _count_hidden_workers(known.values(), imported_by, question_set)
        if dry_run:
            # Negative, so that no stored row has the key.
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
            known = _load_worker_keys(panel_workers, names)
        keys |= {(panel, name): key for name, key in known.items()}
    return [keys[worker.panel, worker.name] for worker in stage.workers], n_new


def _count_hidden_workers(
    known: Iterable[int], imported_by: int | None, question_set: QuestionSet
) -> int:
    """Return how many of the owner's known workers the importing user cannot see."""
    if imported_by in (None, question_set.owner_id):
        return 0
    visible = Worker.objects.visible_to(get_user_model()._default_manager.get(pk=imported_by))
    return sum(
        len(chunk) - visible.filter(pk__in=chunk).count() for chunk in split_in_chunks(known, IDS)
    )


def _load_worker_keys(workers: Any, names: Iterable[str]) -> dict[str, int]:
    """Return the primary keys of stored workers by their external ids."""
    return {
        name: key
        for chunk in split_in_chunks(names, IDS)
        for name, key in workers.filter(external_id__in=chunk).values_list("external_id", "pk")
    }


def _create_submissions(
    version: QuestionSetVersion, stage: Stage, workers: list[int], *, dry_run: bool
) -> tuple[list[int], dict[int, int]]:
    """Create missing submissions; return (all keys, worker numbers by key of older ones).

    A dry run creates none and returns no keys of new submissions.
    """

    def load_submission_keys() -> dict[int, int]:
        """Return the keys of the version's submissions by worker key."""
        if version._state.adding:
            return {}
        return {
            worker: key
            for chunk in split_in_chunks(workers, IDS)
            for worker, key in version.submissions.filter(worker__in=chunk).values_list(
                "worker_id", "pk"
            )
        }

    known = load_submission_keys()
    old_numbers = {known[key]: number for number, key in enumerate(workers) if key in known}
    if dry_run:
        return [], old_numbers
    unknown = [
        (key, staged)
        for key, staged in zip(workers, stage.workers, strict=True)
        if key not in known
    ]
    insert_rows(
        Submission,
        ("public_id", "worker", "state", "started_at", "last_seen_at", "submitted_at"),
        (
            (
                new_public_id(),
                key,
                # What a file without states brings was handed in where it was collected.
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
        known = load_submission_keys()
    return [known[key] for key in workers], old_numbers


ROW = (
    *("public_id", "submission", "question", "text", "status", "rejected"),
    *("started_at", "submitted_at", "work_seconds", "extra", "first_draft_at"),
    *("language", "signals", *COUNTERS),
)


def _insert_new_answers(
    stage: Stage,
    questions: list[int],
    submissions: list[int],
    brought_by: int | None,
) -> None:
    """Insert a file's new answers into the database, from the prepared table if there is one."""
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
        stage.ahead.insert_all({"submission": submissions, "question": questions}, same)
        return
    aside = stage.file.kept_aside
    rows = (
        _build_response_row(answer, aside, submissions[answer.worker], questions[answer.question])
        for answer in stage.iterate_new_answers()
    )
    insert_rows(Response, ROW, rows, same)


def _build_response_row(
    answer: StagedAnswer, kept_aside: list[str], submission: int, question: int
) -> tuple[Any, ...]:
    """Return the database values of one answer, in the order of the fields `ROW`."""
    return (
        new_public_id(),
        submission,
        question,
        answer.text,
        Response.Status.TEXT.value if answer.text else Response.Status.EMPTY.value,
        bool(answer.rejected),
        parse_staged_time(answer.started),
        parse_staged_time(answer.submitted),
        answer.seconds,
        decode_extra_cells(answer.extra, kept_aside),
        parse_staged_time(answer.first_draft),
        answer.language or "",
        *list_signal_values(answer),
    )


def _publish_draft(version: QuestionSetVersion, *, dry_run: bool) -> list[str]:
    """Publish the version if it is a draft (not in a dry run); return notes for the report."""
    if version.is_published if dry_run else not version.publish():
        return []
    return [f"Version {version.number} is published now: its wording stays as it is."]
