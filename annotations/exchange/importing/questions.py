"""Import questions and passages from files into a version of a question set."""

from __future__ import annotations

from typing import Any

from annotations.exchange.importing.import_records import (
    create_import,
    mark_imported_items,
    record_question_import,
)
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    find_next_position,
    get_or_create_version,
    lock_question_set,
    open_transaction,
)
from annotations.exchange.importing.translations import add_translations
from annotations.exchange.problems import Problems
from annotations.exchange.reading.questions import (
    DEFAULT_COLUMNS,
    ItemFile,
    PassageRecord,
    QuestionColumns,
    QuestionRecord,
    read_passages,
    read_questions,
)
from annotations.exchange.reading.source import Readable
from annotations.models import Import, Passage, Question, QuestionSet, QuestionSetVersion

Record = QuestionRecord | PassageRecord


def import_passages(
    question_set: QuestionSet,
    path: Readable,
    *,
    columns: QuestionColumns = DEFAULT_COLUMNS,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a file's passages to the latest version of a question set; return a report.

    (A passage without questions changes nothing for workers who answered.) Raises `InputError` with
    every bad row, also for a stored passage with other content. The `Import` of what is new in a
    draft can undo it; `imported_by` is the key of its user.
    """
    file = read_passages(path, columns)
    problems = Problems(file.name)
    with open_transaction(dry_run):
        version = get_or_create_version(lock_question_set(question_set), None, file.name)
        stored = {row.external_id: row for row in version.passages.all()}
        new_records: list[PassageRecord] = []
        for record in file.records:
            row = stored.get(record.passage)
            if row is None:
                new_records.append(record)
            else:
                _compare_with_stored_row(
                    record, record.passage, build_passage_fields(record), row, version, problems
                )
        problems.raise_if_any()
        start = find_next_position(row.position for row in stored.values())
        Passage.objects.bulk_create(
            (
                Passage(
                    version=version,
                    external_id=record.passage,
                    position=position,
                    **build_passage_fields(record),
                )
                for position, record in enumerate(new_records, start)
            ),
            batch_size=BATCH,
        )
        translated_ids = _store_translations(version.passages.all(), version, file, problems)
        new_ids = [record.passage for record in new_records]
        n_translated = len(translated_ids.difference(new_ids))
        new_import = create_import(
            Import.What.PASSAGES,
            version,
            file,
            imported_by=imported_by,
            n_new=len(new_ids) + n_translated,
            n_unchanged=len(file.records) - len(new_ids) - n_translated,
            n_passages=len(new_ids),
        )
        if new_import:
            mark_imported_items(Passage, new_import, new_ids)
    return _build_import_report(
        "passages", file, version, len(new_records) + n_translated, dry_run, n_translated
    )


def import_questions(
    question_set: QuestionSet,
    path: Readable,
    *,
    columns: QuestionColumns = DEFAULT_COLUMNS,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a file's questions to the draft of a question set; return a report.

    If the latest version is published and the file has unknown questions, the next version is
    opened as its copy. A question whose text is not known yet (answers came first) is completed.
    Raises `InputError` with every bad row, also for a stored question with other content, or
    without its passage. What is new can be undone as in `import_passages`.
    """
    file = read_questions(path, columns)
    problems = Problems(file.name)
    with open_transaction(dry_run):
        version = get_or_create_version(lock_question_set(question_set), None, file.name)
        passages = {row.external_id: row.pk for row in version.passages.all()}
        # All at once, not a query for each row of the file.
        stored = {row.external_id: row for row in version.questions.all()}
        new_records: list[QuestionRecord] = []
        completed: list[Question] = []
        for record in file.records:
            if record.passage and record.passage not in passages:
                problems.add_code(
                    record.line,
                    "passage",
                    "passage_unknown",
                    version=str(version),
                    passage=record.passage,
                )
                continue
            row = stored.get(record.question)
            if row is None:
                new_records.append(record)
            elif not row.text:
                completed.append(_complete_question(row, record, passages))
            else:
                record_fields = build_question_fields(record, passages)
                _compare_with_stored_row(
                    record, record.question, record_fields, row, version, problems
                )
        problems.raise_if_any()
        names = [*build_question_fields(file.records[0], passages)]
        # A question that an import of answers created without a text now belongs to both imports.
        Question.objects.bulk_update(completed, [*names, "brought_by"], batch_size=BATCH)
        notes = []
        if new_records and version.is_published:
            version = version.copy_as_draft()
            # The passages of the copy have keys of their own.
            passages = {row.external_id: row.pk for row in version.passages.all()}
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        start = find_next_position(row.position for row in stored.values())
        Question.objects.bulk_create(
            (
                Question(
                    version=version,
                    external_id=record.question,
                    position=position,
                    **build_question_fields(record, passages),
                )
                for position, record in enumerate(new_records, start)
            ),
            batch_size=BATCH,
        )
        translated_ids = _store_translations(version.questions.all(), version, file, problems)
        new_ids = [record.question for record in new_records]
        counted_ids = {*new_ids, *(row.external_id for row in completed)}
        n_completed = len(completed) + len(translated_ids - counted_ids)
        record_question_import(
            version,
            file,
            new_ids,
            n_rows=len(file.records),
            n_completed=n_completed,
            imported_by=imported_by,
        )
    return _build_import_report(
        "questions", file, version, len(new_records) + n_completed, dry_run, n_completed, notes
    )


def _store_translations(
    rows: Any, version: QuestionSetVersion, file: ItemFile[Any], problems: Problems
) -> set[str]:
    """Store a file's translated texts; return the ids of the items that got a new one."""
    records_by_id = {
        record.passage if isinstance(record, PassageRecord) else record.question: record
        for record in file.records
        if record.translations
    }
    if not records_by_id:
        return set()
    translated_rows = [row for row in rows if row.external_id in records_by_id]
    texts = ((records_by_id[row.external_id], row) for row in translated_rows)
    return add_translations(
        version,
        [(translated.line, row, translated.translations) for translated, row in texts],
        problems,
    )


def build_passage_fields(record: PassageRecord) -> dict[str, Any]:
    """Return the values of the `Passage` fields that a file record holds, by field name."""
    return {
        "title": record.title,
        "text": record.text,
        "language": record.language,
        "metadata": record.metadata,
        "format": record.format,
        "image_alt": record.image_alt,
    }


def build_question_fields(record: QuestionRecord, passages: dict[str, int]) -> dict[str, Any]:
    """Return the values of the `Question` fields that a file record holds, by field name."""
    return {
        "text": record.text,
        "passage_id": passages.get(record.passage),
        "kind": record.kind,
        "choices": list(record.choices),
        "accepted_answers": list(record.accepted_answers),
        "answerable": record.answerable,
        "category": record.category,
        "language": record.language,
        "metadata": record.metadata,
        "role": record.role,
        "feedback": record.feedback,
        "max_characters": record.max_characters,
    }


def _complete_question(row: Question, record: QuestionRecord, passages: dict[str, int]) -> Question:
    """Fill a stored question that has no text with the values of a file record; return it."""
    for name, value in build_question_fields(record, passages).items():
        setattr(row, name, value)
    # It belongs to the import of answers that created it and to this one, so to neither.
    row.brought_by = None
    return row


def _compare_with_stored_row(
    record: Record,
    name: str,
    record_fields: dict[str, Any],
    row: Passage | Question,
    version: QuestionSetVersion,
    problems: Problems,
) -> None:
    """Record a problem if a file record differs from the stored row with the same id."""
    differing_fields = [
        field.removesuffix("_id")
        for field, value in record_fields.items()
        if getattr(row, field) != value
    ]
    if differing_fields:
        problems.add_code(
            record.line,
            None,
            "stored_differs",
            version=str(version),
            name=name,
            what=", ".join(differing_fields),
        )


def _build_import_report(
    what: str,
    file: ItemFile[Any],
    version: QuestionSetVersion,
    n_new: int,
    dry_run: bool,
    n_completed: int = 0,
    notes: list[str] | None = None,
) -> ImportReport:
    """Return the report of an import of questions or passages, with its row counts."""
    return ImportReport(
        what=what,
        file=file.name,
        sha256=file.sha256,
        question_set=version.question_set.name,
        version=version.number,
        n_rows=file.n_rows,
        n_new=n_new,
        n_unchanged=len(file.records) - n_new,
        n_repeated=file.n_repeated,
        n_completed=n_completed,
        notes=notes or [],
        warnings=file.warnings,
        dry_run=dry_run,
    )
