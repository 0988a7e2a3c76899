"""Questions and passages, from files into a version."""

from __future__ import annotations

from typing import Any

from annotations.exchange.importing.brought import keep_import, keep_questions, mark_items
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    all_or_nothing,
    locked,
    next_position,
    version_of,
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
    """Add a file's passages to the set's latest version, draft or published.

    (A passage that no question is about changes nothing for those who answered.) Raises
    `InputError` with every bad row, also for a passage that is there with another content. What is
    new in a draft can be taken out again by its `Import`, which says who brought it:
    `imported_by`, a user's key.
    """
    file = read_passages(path, columns)
    problems = Problems(file.name)
    with all_or_nothing(dry_run):
        version = version_of(locked(question_set), None, file.name)
        stored = {row.external_id: row for row in version.passages.all()}
        fresh: list[PassageRecord] = []
        for record in file.records:
            row = stored.get(record.passage)
            if row is None:
                fresh.append(record)
            else:
                _compare(record, record.passage, passage_fields(record), row, version, problems)
        problems.raise_if_any()
        start = next_position(row.position for row in stored.values())
        Passage.objects.bulk_create(
            (
                Passage(
                    version=version,
                    external_id=record.passage,
                    position=position,
                    **passage_fields(record),
                )
                for position, record in enumerate(fresh, start)
            ),
            batch_size=BATCH,
        )
        touched = _translated(version.passages.all(), version, file, problems)
        made = [record.passage for record in fresh]
        n_more = len(touched.difference(made))
        brought = keep_import(
            Import.What.PASSAGES,
            version,
            file,
            imported_by=imported_by,
            n_new=len(made) + n_more,
            n_unchanged=len(file.records) - len(made) - n_more,
            n_passages=len(made),
        )
        if brought:
            mark_items(Passage, brought, made)
    return _report("passages", file, version, len(fresh) + n_more, dry_run, n_more)


def import_questions(
    question_set: QuestionSet,
    path: Readable,
    *,
    columns: QuestionColumns = DEFAULT_COLUMNS,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a file's questions to the set's draft; a passage is named by its id in the set.

    If the latest version is published and the file has questions it does not have, the next
    version is opened as its copy. A question whose text is not known yet (answers came first) is
    completed where it stands. Raises `InputError` with every bad row, also for a question that is
    there with another content, or whose passage is not. What is new can be taken out again, as
    by `import_passages`.
    """
    file = read_questions(path, columns)
    problems = Problems(file.name)
    with all_or_nothing(dry_run):
        version = version_of(locked(question_set), None, file.name)
        passages = {row.external_id: row.pk for row in version.passages.all()}
        stored = {row.external_id: row for row in version.questions.all()}
        fresh: list[QuestionRecord] = []
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
                fresh.append(record)
            elif not row.text:
                completed.append(_completed(row, record, passages))
            else:
                given = question_fields(record, passages)
                _compare(record, record.question, given, row, version, problems)
        problems.raise_if_any()
        names = [*question_fields(file.records[0], passages)]
        # What an import of answers made without a text is from now on this file's as well.
        Question.objects.bulk_update(completed, [*names, "brought_by"], batch_size=BATCH)
        notes = []
        if fresh and version.is_published:
            version = version.copy()
            passages = {row.external_id: row.pk for row in version.passages.all()}
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        start = next_position(row.position for row in stored.values())
        Question.objects.bulk_create(
            (
                Question(
                    version=version,
                    external_id=record.question,
                    position=position,
                    **question_fields(record, passages),
                )
                for position, record in enumerate(fresh, start)
            ),
            batch_size=BATCH,
        )
        touched = _translated(version.questions.all(), version, file, problems)
        made = [record.question for record in fresh]
        others = {*made, *(row.external_id for row in completed)}
        n_completed = len(completed) + len(touched - others)
        keep_questions(
            version,
            file,
            made,
            n_rows=len(file.records),
            n_completed=n_completed,
            imported_by=imported_by,
        )
    return _report(
        "questions", file, version, len(fresh) + n_completed, dry_run, n_completed, notes
    )


def _translated(
    rows: Any, version: QuestionSetVersion, file: ItemFile[Any], problems: Problems
) -> set[str]:
    """Store what a file says in further languages; return the ids for which something was new."""
    said = {
        record.passage if isinstance(record, PassageRecord) else record.question: record
        for record in file.records
        if record.translations
    }
    if not said:
        return set()
    found = [row for row in rows if row.external_id in said]
    texts = ((said[row.external_id], row) for row in found)
    return add_translations(
        version, [(one.line, row, one.translations) for one, row in texts], problems
    )


def passage_fields(record: PassageRecord) -> dict[str, Any]:
    """The fields of a `Passage` that a record says."""
    return {
        "title": record.title,
        "text": record.text,
        "language": record.language,
        "metadata": record.metadata,
        "format": record.format,
        "image_alt": record.image_alt,
    }


def question_fields(record: QuestionRecord, passages: dict[str, int]) -> dict[str, Any]:
    """The fields of a `Question` that a record says; `passages` are keys by their ids."""
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


def _completed(row: Question, record: QuestionRecord, passages: dict[str, int]) -> Question:
    for name, value in question_fields(record, passages).items():
        setattr(row, name, value)
    row.brought_by = None
    return row


def _compare(
    record: Record,
    name: str,
    given: dict[str, Any],
    row: Passage | Question,
    version: QuestionSetVersion,
    problems: Problems,
) -> None:
    """Note in what a record contradicts the row of the same id."""
    others = [
        field.removesuffix("_id") for field, value in given.items() if getattr(row, field) != value
    ]
    if others:
        problems.add_code(
            record.line,
            None,
            "stored_differs",
            version=str(version),
            name=name,
            what=", ".join(others),
        )


def _report(
    what: str,
    file: ItemFile[Any],
    version: QuestionSetVersion,
    n_new: int,
    dry_run: bool,
    n_completed: int = 0,
    notes: list[str] | None = None,
) -> ImportReport:
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
