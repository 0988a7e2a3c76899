"""Import questions with several right answers from a published data set into a question set."""

from __future__ import annotations

from typing import Any

from annotations.exchange.importing.import_records import record_question_import
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    find_next_position,
    get_or_create_version,
    lock_question_set,
    open_transaction,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.several_answers import (
    SeveralAnswersQuestion,
    read_several_answers,
)
from annotations.exchange.reading.source import Readable
from annotations.models import Question, QuestionSet

SPELLINGS = "answers"
"""The key of a question's metadata with its right answers, a list of spellings each."""

LONGEST = {"id": 255, "category": 200, "language": 35}


def import_several_answers(
    question_set: QuestionSet,
    path: Readable,
    *,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a file's questions with several right answers to a set's draft; return a report.

    The accepted answers of a question are all spellings of its right ones; its metadata groups
    them by answer. The id of a question without one is its position in the file, from 0. If the
    latest version is published and the file has questions that it does not have, the next version
    is opened as its copy.

    Raises `InputError`: see `read_several_answers`; also for a stored question with another
    text or other answers, and for an id, category or language that is too long.
    The `Import` of the new questions can undo them; `imported_by` is the key of its user.
    """
    file = read_several_answers(path)
    problems = Problems(file.name)
    with open_transaction(dry_run):
        version = get_or_create_version(lock_question_set(question_set), None, file.name)
        stored = {row.external_id: row for row in version.questions.all()}
        new_questions: list[SeveralAnswersQuestion] = []
        for question in file.questions:
            values = {
                "id": question.id,
                **{key: value for key, value in question.groups if key in LONGEST},
            }
            for name, value in values.items():
                if len(value) > LONGEST[name]:
                    problems.add_code(
                        question.line or None,
                        name,
                        "question_value_long",
                        name=name,
                        question=question.id[:40],
                        most=LONGEST[name],
                    )
            row = stored.get(question.id)
            if row is None:
                new_questions.append(question)
            elif any(
                getattr(row, name) != value
                for name, value in _build_question_fields(question).items()
            ):
                problems.add_code(
                    question.line or None,
                    "id",
                    "stored_answers_differ",
                    version=str(version),
                    name=question.id,
                )
        problems.raise_if_any()
        notes = []
        if new_questions and version.is_published:
            version = version.copy_as_draft()
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        # Also right for a copy, which takes over the positions.
        start = find_next_position(row.position for row in stored.values())
        Question.objects.bulk_create(
            (
                Question(
                    version=version,
                    external_id=question.id,
                    position=position,
                    **_build_question_fields(question),
                )
                for position, question in enumerate(new_questions, start)
            ),
            batch_size=BATCH,
        )
        record_question_import(
            version,
            file,
            [question.id for question in new_questions],
            n_rows=len(file.questions),
            imported_by=imported_by,
        )
    n_without = sum(not question.answers for question in new_questions)
    if n_without:
        notes.append(f"{n_without} have no right answer: models are only asked how sure they are.")
    return ImportReport(
        what="questions",
        file=file.name,
        sha256=file.sha256,
        question_set=question_set.name,
        version=version.number,
        n_rows=len(file.questions),
        n_new=len(new_questions),
        n_unchanged=len(file.questions) - len(new_questions),
        n_repeated=0,
        notes=notes,
        warnings=list(file.warnings),
        dry_run=dry_run,
    )


def _build_question_fields(question: SeveralAnswersQuestion) -> dict[str, Any]:
    """Return the `Question` field values of a question with several right answers, by field."""
    groups = dict(question.groups)
    spellings = [[str(text) for text in answer] for answer in question.answers]
    facts = {key: groups[key] for key in ("kind", "dataset", "source") if key in groups}
    return {
        "text": question.text,
        "category": groups.get("category", ""),
        "language": groups.get("language", ""),
        "accepted_answers": [text for answer in spellings for text in answer],
        "metadata": facts | ({SPELLINGS: spellings} if spellings else {}),
    }
