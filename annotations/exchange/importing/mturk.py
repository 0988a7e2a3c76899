"""Import batch result files of Mechanical Turk into a version of a question set."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from annotations.exchange.ids import clean_id
from annotations.exchange.importing.answers import prepare_stage, store_answers
from annotations.exchange.importing.panel_file import PanelFileRow, store_panel_file
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.stage import GATHERED, AnswerSource, Stage
from annotations.exchange.importing.target import (
    BATCH,
    find_next_position,
    get_version_questions,
    lock_import_version,
    open_transaction_unless_dry_run,
    quote_beginning,
    roll_back_if_dry_run,
)
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.duplicates import DuplicateRule, Duplicates
from annotations.exchange.reading.mturk import PANEL, MturkQuestion, MturkRows, QuestionTemplate
from annotations.exchange.reading.questions import LONGEST
from annotations.exchange.reading.source import Readable
from annotations.models import Question, QuestionSet, QuestionSetVersion


def import_mturk(
    question_set: QuestionSet,
    path: Readable,
    *,
    question_template: str = "",
    answers: Collection[str] = (),
    panel: str = PANEL,
    duplicates: Duplicates = Duplicates.REFUSE,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add the answers of one Mechanical Turk batch; return its report. See `import_batches`."""
    (report,) = import_batches(
        question_set,
        [path],
        question_template=question_template,
        answers=answers,
        panel=panel,
        duplicates=duplicates,
        version=version,
        update_flags=update_flags,
        dry_run=dry_run,
        imported_by=imported_by,
    )
    return report


def import_batches(
    question_set: QuestionSet,
    paths: Sequence[Readable],
    *,
    question_template: str = "",
    answers: Collection[str] = (),
    panel: str = PANEL,
    duplicates: Duplicates = Duplicates.REFUSE,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> list[ImportReport]:
    """Add the answers and questions of Mechanical Turk batches, all or none; return the reports.

    Each Answer column of a HIT is a question, created in the draft if it is unknown (`answers`
    selects the columns as in `MturkRows`), and the version is published; so batches of one task are
    imported together. Answers of rejected assignments are flagged, and left out of runs. Everything
    else is as in `import_answers`. Raises `InputError`; ValueError for a bad template.
    """
    with ExitStack() as opened:
        # All are read before one is stored, so that a fault in the last one stores nothing.
        batches = [
            opened.enter_context(
                stage_batch(
                    path,
                    question_template=question_template,
                    answers=answers,
                    panel=panel,
                    duplicates=duplicates,
                )
            )
            for path in paths
        ]
        return store_batches(
            question_set,
            batches,
            version=version,
            update_flags=update_flags,
            dry_run=dry_run,
            imported_by=imported_by,
        )


class StagedBatch(Stage):
    """Answers of a Mechanical Turk batch or a survey export, read but not yet stored."""

    asked: dict[str, MturkQuestion]
    keeps_wordings = False

    def __init__(self) -> None:
        super().__init__()
        self.panel, self.header = "", list[str]()

    def fill(
        self, source: AnswerSource, panel: str = "", duplicates: DuplicateRule | None = None
    ) -> None:
        """Read the answers of a file into the store; of a Mechanical Turk file also its rows."""
        super().fill(source, panel, duplicates)
        if isinstance(source, MturkRows):
            self.panel = panel
            self.header, rows = source.reread_whole_file()
            self._db.execute("CREATE TABLE whole (cells TEXT)")
            self._db.executemany(
                "INSERT INTO whole VALUES (?)",
                ((json.dumps(cells, ensure_ascii=False),) for cells in rows),
            )

    def iterate_whole_rows(self) -> Iterator[PanelFileRow]:
        """Yield the unchanged rows of a Mechanical Turk batch, in the order of the file."""
        positions = {name: position for position, name in enumerate(self.header)}
        rows = self._db.execute("SELECT cells FROM whole ORDER BY rowid")
        while chunk := rows.fetchmany(GATHERED):
            for (text,) in chunk:
                cells = json.loads(text)
                worker = clean_id(cells[positions["WorkerId"]])
                assignment = positions.get("AssignmentId")
                yield PanelFileRow(
                    worker, "" if assignment is None else cells[assignment].strip(), cells
                )

    def collect_further_fields(self) -> dict[str, Any]:
        """Return the batch's questions, panel and header as JSON values, to be saved with it."""
        asked = {name: asdict(asked) for name, asked in self.asked.items()}
        return {"asked": asked, "panel": self.panel, "header": self.header}

    def _restore_fields(self, about: dict[str, Any]) -> None:
        """Restore questions, panel and header from the JSON values saved with a batch."""
        super()._restore_fields(about)
        # Stages of older versions have neither panel nor header.
        self.panel, self.header = about.get("panel", ""), about.get("header", [])
        self.asked = {name: MturkQuestion(**asked) for name, asked in about["asked"].items()}


def stage_batch(
    path: Readable,
    *,
    question_template: str = "",
    answers: Collection[str] = (),
    panel: str = PANEL,
    duplicates: Duplicates = Duplicates.REFUSE,
) -> StagedBatch:
    """Read a Mechanical Turk batch into a temporary store, which the caller must close.

    Raises `InputError`; ValueError for a bad template.
    """
    template = QuestionTemplate.parse(question_template) if question_template.strip() else None
    rows, stage = MturkRows(path, template, answers, duplicates), StagedBatch()
    try:
        stage.fill(rows, panel, duplicates)
    except BaseException:
        stage.close()
        raise
    stage.asked = rows.questions
    return stage


def store_batch(question_set: QuestionSet, batch: StagedBatch, **options: Any) -> ImportReport:
    """Store one batch that was read into a temporary store; return its report."""
    (report,) = store_batches(question_set, [batch], **options)
    return report


def store_batches(
    question_set: QuestionSet,
    batches: Sequence[StagedBatch],
    *,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> list[ImportReport]:
    """Store the answers and questions of batches that `stage_batch` read; return their reports."""
    # Of several batches the later ones depend on what the earlier ones store, also in a dry run.
    is_single = len(batches) == 1

    def store_all_batches(*, dry_run: bool) -> list[ImportReport]:
        """Store all batches in one transaction; in a dry run only predict their reports."""
        reports = []
        only_read = dry_run and is_single
        with (
            open_transaction_unless_dry_run(only_read),
            roll_back_if_dry_run(dry_run and not only_read),
        ):
            target = lock_import_version(
                question_set, version, batches[0].file.name, dry_run=only_read
            )
            # All questions first: the answers publish the version, which takes none after that.
            new_questions = [
                _store_questions(batch, target, dry_run=only_read) for batch in batches
            ]
            for batch, batch_questions in zip(batches, new_questions, strict=True):
                report = store_answers(
                    batch,
                    target,
                    update_flags=update_flags,
                    dry_run=only_read,
                    fresh=batch_questions,
                    imported_by=imported_by,
                )
                if batch.header and not only_read:
                    store_panel_file(
                        target,
                        batch.file.name,
                        batch.panel,
                        batch.header,
                        batch.iterate_whole_rows(),
                    )
                report.created["questions"] = len(batch_questions)
                report.kept_aside = ()
                report.dry_run = dry_run
                report.notes[:0] = batch.file.notes
                reports.append(report)
        return reports

    if not dry_run:
        for batch in batches:
            prepare_stage(batch, (lambda: store_all_batches(dry_run=True)) if is_single else None)
    return store_all_batches(dry_run=dry_run)


def _store_questions(
    batch: StagedBatch, version: QuestionSetVersion, *, dry_run: bool
) -> list[str]:
    """Create a batch's unknown questions, add missing texts; return the ids of the new ones.

    A dry run only reads.
    """
    problems = Problems(batch.file.name)
    stored = {row.external_id: row for row in get_version_questions(version)}
    new_questions: list[tuple[str, MturkQuestion]] = []
    completed: list[Question] = []
    for name, question in batch.asked.items():
        row = stored.get(name)
        if row is None:
            if len(name) > LONGEST["question"]:
                problems.add_code(
                    question.line,
                    None,
                    "assignment_id_long",
                    name=quote_beginning(name),
                    size=len(name),
                    most=LONGEST["question"],
                )
            new_questions.append((name, question))
        elif row.text == question.text or not question.text:
            continue
        elif not row.text:
            row.text = question.text
            completed.append(row)
        elif batch.keeps_wordings:
            continue
        else:
            problems.add_code(
                question.line,
                None,
                "assignment_text_differs",
                version=str(version),
                name=name,
                text=quote_beginning(row.text),
            )
    problems.raise_if_any()
    if new_questions and version.is_published:
        raise InputError.from_code(
            batch.file.name,
            "batch_into_published",
            line=new_questions[0][1].line,
            version=str(version),
            question=new_questions[0][0],
        )
    if dry_run:
        return [name for name, _ in new_questions]
    Question.objects.bulk_update(completed, ["text"], batch_size=BATCH)
    start = find_next_position(row.position for row in stored.values())
    Question.objects.bulk_create(
        (
            Question(
                version=version,
                external_id=name,
                position=position,
                **_build_question_fields(question),
            )
            for position, (name, question) in enumerate(new_questions, start)
        ),
        batch_size=BATCH,
    )
    return [name for name, _ in new_questions]


def _build_question_fields(question: MturkQuestion) -> dict[str, Any]:
    """Return the `Question` field values of a question in a batch, by field name."""
    inputs = {f"Input.{name}": cell for name, cell in question.inputs.items() if cell.strip()}
    fields: dict[str, Any] = {"text": question.text, "metadata": inputs}
    if question.right:
        fields |= {"role": Question.Role.ATTENTION, "accepted_answers": [question.right]}
    return fields
