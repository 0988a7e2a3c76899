"""Batch results of Mechanical Turk, from files into a version."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from annotations.exchange.importing.answers import store_answers
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.stage import Stage
from annotations.exchange.importing.target import (
    BATCH,
    all_or_nothing,
    locked,
    next_position,
    quoted,
    version_of,
)
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.mturk import PANEL, MturkQuestion, MturkRows, QuestionTemplate
from annotations.exchange.reading.questions import LONGEST
from annotations.exchange.reading.source import Readable
from annotations.models import Question, QuestionSet, QuestionSetVersion


def import_mturk(
    question_set: QuestionSet,
    path: Readable,
    *,
    question_template: str = "",
    panel: str = PANEL,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Add one batch; see `import_batches`."""
    (report,) = import_batches(
        question_set,
        [path],
        question_template=question_template,
        panel=panel,
        version=version,
        update_flags=update_flags,
        dry_run=dry_run,
    )
    return report


def import_batches(
    question_set: QuestionSet,
    paths: Sequence[Readable],
    *,
    question_template: str = "",
    panel: str = PANEL,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
) -> list[ImportReport]:
    """Add the answers of batches, and the questions they answer, all of them or none.

    Each Answer column of a HIT is a question (`exchange.mturk`), made in the draft if it is not
    there, and the version is published; so batches that belong together come in together. Answers
    of rejected assignments are flagged, and left out of runs. Everything else, the same file again
    included, is as in `import_answers`. Raises `InputError`; ValueError for a bad template.
    """
    template = QuestionTemplate.parse(question_template) if question_template.strip() else None
    with ExitStack() as stages:
        batches = []
        for path in paths:
            rows, stage = MturkRows(path, template), stages.enter_context(Stage())
            stage.fill(rows, panel)
            batches.append((rows, stage))
        with all_or_nothing(dry_run):
            target = version_of(locked(question_set), version, batches[0][0].table.name)
            reports, made = [], []
            # All questions first: the answers publish the version, which takes none after that.
            made = [_store_questions(rows, target) for rows, _ in batches]
            for (rows, stage), n_questions in zip(batches, made, strict=True):
                report = store_answers(rows, stage, target, update_flags=update_flags)
                report.created["questions"] = n_questions
                report.kept_aside = ()
                report.dry_run = dry_run
                report.notes[:0] = _remarks(rows)
                reports.append(report)
    return reports


def _remarks(rows: MturkRows) -> list[str]:
    remarks = [
        f"{rows.n_assignments} assignments x {rows.n_fields} Answer columns = {rows.n_rows} answers"
    ]
    if rows.left_out:
        remarks.append(f"Columns left out: {', '.join(rows.left_out)}")
    return remarks


def _store_questions(rows: MturkRows, version: QuestionSetVersion) -> int:
    """Make the questions that are not there, complete those without a text; says how many."""
    problems = Problems(rows.table.name)
    stored = {row.external_id: row for row in version.questions.all()}
    fresh: list[tuple[str, MturkQuestion]] = []
    completed: list[Question] = []
    for name, asked in rows.questions.items():
        row = stored.get(name)
        if row is None:
            if len(name) > LONGEST["question"]:
                reason = f"the question {quoted(name)} has an id of {len(name)} characters"
                problems.add(asked.line, None, f"{reason}, more than {LONGEST['question']}")
            fresh.append((name, asked))
        elif row.text == asked.text:
            continue
        elif not row.text:
            row.text = asked.text
            completed.append(row)
        else:
            problems.add(
                asked.line,
                None,
                f"{version} has the question {name} already, with another text "
                f"({quoted(row.text)})",
                "Use the same template as before.",
            )
    problems.raise_if_any()
    if fresh and version.is_published:
        raise InputError.single(
            rows.table.name,
            f"{version} is published and takes no new questions, such as {fresh[0][0]}",
            "Import the batches that belong together by one command, or this one into a set of "
            "its own.",
            line=fresh[0][1].line,
        )
    Question.objects.bulk_update(completed, ["text"], batch_size=BATCH)
    start = next_position(row.position for row in stored.values())
    Question.objects.bulk_create(
        (
            Question(version=version, external_id=name, position=position, **_fields(asked))
            for position, (name, asked) in enumerate(fresh, start)
        ),
        batch_size=BATCH,
    )
    return len(fresh)


def _fields(asked: MturkQuestion) -> dict[str, Any]:
    inputs = {f"Input.{name}": cell for name, cell in asked.inputs.items() if cell.strip()}
    return {"text": asked.text, "metadata": inputs}
