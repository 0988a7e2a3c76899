"""Questions with several right answers, from a list as published into a version."""

from __future__ import annotations

from typing import Any

from annotations.exchange.importing.brought import keep_questions
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    all_or_nothing,
    locked,
    next_position,
    version_of,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.several_answers import (
    SeveralAnswersQuestion,
    read_several_answers,
)
from annotations.exchange.reading.source import Readable
from annotations.models import Question, QuestionSet

SPELLINGS = "answers"
"""Under which the metadata of a question hold its right answers, a list of spellings each."""

LONGEST = {"id": 255, "category": 200, "language": 35}


def import_several_answers(
    question_set: QuestionSet,
    given: Readable,
    *,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add questions with several right answers to the set's draft.

    The accepted answers of a question are all spellings of its right ones; which belong together
    its metadata say. Without an id a question is called by its place in the file, from 0. If the
    latest version is published and the file has questions that it does not have, the next version
    is opened as its copy.

    Raises `InputError`: see `read_several_answers`; also for a question that is there with another
    text or other answers, and for an id, category or language that is too long.
    What is new can be taken out again by its `Import`, which says who brought it: `imported_by`.
    """
    file = read_several_answers(given)
    problems = Problems(file.name)
    with all_or_nothing(dry_run):
        version = version_of(locked(question_set), None, file.name)
        stored = {row.external_id: row for row in version.questions.all()}
        fresh: list[SeveralAnswersQuestion] = []
        for one in file.questions:
            values = {"id": one.id, **{key: value for key, value in one.groups if key in LONGEST}}
            for name, value in values.items():
                if len(value) > LONGEST[name]:
                    problems.add_code(
                        one.line or None,
                        name,
                        "question_value_long",
                        name=name,
                        question=one.id[:40],
                        most=LONGEST[name],
                    )
            row = stored.get(one.id)
            if row is None:
                fresh.append(one)
            elif any(getattr(row, name) != value for name, value in _fields(one).items()):
                problems.add_code(
                    one.line or None,
                    "id",
                    "stored_answers_differ",
                    version=str(version),
                    name=one.id,
                )
        problems.raise_if_any()
        notes = []
        if fresh and version.is_published:
            version = version.copy()
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        start = next_position(row.position for row in stored.values())
        Question.objects.bulk_create(
            (
                Question(version=version, external_id=one.id, position=at, **_fields(one))
                for at, one in enumerate(fresh, start)
            ),
            batch_size=BATCH,
        )
        keep_questions(
            version,
            file,
            [one.id for one in fresh],
            n_rows=len(file.questions),
            imported_by=imported_by,
        )
    n_without = sum(not one.answers for one in fresh)
    if n_without:
        notes.append(f"{n_without} have no right answer: models are only asked how sure they are.")
    return ImportReport(
        what="questions",
        file=file.name,
        sha256=file.sha256,
        question_set=question_set.name,
        version=version.number,
        n_rows=len(file.questions),
        n_new=len(fresh),
        n_unchanged=len(file.questions) - len(fresh),
        n_repeated=0,
        notes=notes,
        warnings=list(file.warnings),
        dry_run=dry_run,
    )


def _fields(one: SeveralAnswersQuestion) -> dict[str, Any]:
    groups = dict(one.groups)
    spellings = [[str(text) for text in answer] for answer in one.answers]
    told = {key: groups[key] for key in ("kind", "dataset", "source") if key in groups}
    return {
        "text": one.text,
        "category": groups.get("category", ""),
        "language": groups.get("language", ""),
        "accepted_answers": [text for answer in spellings for text in answer],
        "metadata": told | ({SPELLINGS: spellings} if spellings else {}),
    }
