"""Convert other tools' exports to tables of answers and of questions, without a database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotations.exchange.facts import ASKING, FACTS
from annotations.exchange.header import OF_ANSWERS, OF_MODEL_ANSWERS, ColumnNames
from annotations.exchange.importing.mturk import StagedBatch
from annotations.exchange.importing.stage import decode_extra_cells
from annotations.exchange.importing.survey_exports import stage_survey_export
from annotations.exchange.markup import shorten_example
from annotations.exchange.presets import Mapping, Preset
from annotations.exchange.presets.demographics import DemographicFile, StatusRule
from annotations.exchange.reading.answers import DEFAULT_COLUMNS, read_model_answers
from annotations.exchange.reading.duplicates import (
    DuplicateRule,
    Duplicates,
    describe_superseded,
)
from annotations.exchange.reading.mturk import MturkQuestion
from annotations.exchange.reading.source import Readable
from annotations.exchange.records import ModelRequest
from annotations.exchange.writing.formats import find_format, write_table

ANSWERS = ("worker", "question", "answer", *FACTS, OF_ANSWERS)
MODEL_ANSWERS = ("model", "question", "answer", "status", *ASKING, OF_MODEL_ANSWERS)
QUESTIONS = ("question", "text")
FORMAT = 1
YES = {1: "yes", 0: "no"}
EXAMPLES = 3
QUESTIONS_SHOWN = 10


def convert_survey_export(
    path: Readable,
    output: Path,
    *,
    preset: Preset,
    mapping: Mapping,
    questions: Path | None = None,
    duplicates: DuplicateRule = Duplicates.REFUSE,
    demographics: DemographicFile | None = None,
    statuses: StatusRule = StatusRule.REFUSE,
) -> list[str]:
    """Write the answers of a survey export to a table of answers; return the report's sentences.

    The table has the columns of an export of answers, so that rejections, times and the other cells
    are included. `questions` is the path of a second table, of the questions. `demographics` are
    joined by the worker's id, under the rule `statuses`. Raises `InputError`, and then nothing is
    written.
    """
    # Before the file is read, so that a wrong ending fails at once.
    kinds = [(file, find_format(file)) for file in (output, questions) if file is not None]
    with stage_survey_export(
        path,
        preset=preset,
        mapping=mapping,
        duplicates=duplicates,
        demographics=demographics,
        statuses=statuses,
    ) as stage:
        is_graded = _build_graded_condition(stage)
        n_answers, n_empty = (
            stage.count_answers(is_graded),
            stage.count_answers(f"text = '' AND {is_graded}"),
        )
        n_checks, n_questions = (
            stage.count_answers() - n_answers,
            len(_select_graded_questions(stage)),
        )
        write_table(*kinds[0], ANSWERS, _iterate_answer_rows(stage))
        if questions is not None:
            question_rows = (
                (name, question.text or None)
                for name, question in _select_graded_questions(stage).items()
            )
            write_table(*kinds[1], QUESTIONS, question_rows)
        empty = f"; {n_empty:,} of them empty" if n_empty else ""
        repeated = f" + {stage.n_repeated:,} repeated" if stage.n_repeated else ""
        replaced = f" + {stage.n_superseded:,} superseded" if stage.n_superseded else ""
        replaced += f" + {n_checks:,} to attention checks" if n_checks else ""
        rejected = stage.count_answers(f"rejected AND {is_graded}")
        return [
            f"{stage.file.n_rows:,} answers in the file = {n_answers:,} written{repeated}{replaced}"
            f"{empty}, of {len(stage.workers):,} workers to {n_questions:,} questions",
            *_describe_examples(stage),
            *([f"Rejected where they were collected, and flagged: {rejected:,}"] * bool(rejected)),
            *stage.file.notes,
            *describe_superseded(stage.n_superseded, duplicates),
            *(f"Warning: {warning}" for warning in stage.file.warnings),
        ]


def convert_model_log(
    path: Readable, output: Path, *, model: str = "", question: str = ""
) -> list[str]:
    """Write a log's model answers to a table of model answers; return the report's sentences.

    Parameters
    ----------
    model : name of the model, "" for the one in the log. question : path of the questions' ids in
        a sample, "" for the usual one.

    Raises `InputError`, and then nothing is written.
    """
    kind = find_format(output)
    columns = ColumnNames(question=question) if question else DEFAULT_COLUMNS
    file = read_model_answers(path, columns, model=model)
    rows = (
        (
            record.model,
            record.question,
            record.text or None,
            record.status.value,
            asking.sample,
            asking.finish_reason or None,
            asking.prompt or None,
            json.dumps(asking.parameters, ensure_ascii=False, sort_keys=True),
            json.dumps(
                {**asking.extra, **({"thinking": record.thinking} if record.thinking else {})},
                ensure_ascii=False,
                sort_keys=True,
            ),
            FORMAT,
        )
        for record in file.records
        for asking in [record.asking or ModelRequest()]
    )
    write_table(output, kind, MODEL_ANSWERS, rows)
    n_questions = len({record.question for record in file.records})
    repeated = f" + {file.n_repeated:,} repeated" if file.n_repeated else ""
    return [
        *file.notes,
        f"{file.n_rows:,} answers in the log = {len(file.records):,} written{repeated}, to "
        f"{n_questions:,} questions",
        *(f"Warning: {warning}" for warning in file.warnings),
    ]


def _select_graded_questions(stage: StagedBatch) -> dict[str, MturkQuestion]:
    """Return the questions that are not attention checks, by question id."""
    return {name: question for name, question in stage.asked.items() if not question.right}


def _build_graded_condition(stage: StagedBatch) -> str:
    """Return the SQL condition that excludes answers to attention checks."""
    checks = [at for at, name in enumerate(stage.questions) if stage.asked[name].right]
    return f"question NOT IN ({', '.join(map(str, checks))})"


def _describe_examples(stage: StagedBatch) -> Iterator[str]:
    """Yield a line for each of the first 10 questions: its wording and three stored answers.

    They show the user whether a wrong column was taken.
    """
    names, graded = list(stage.questions), _select_graded_questions(stage)
    shown: dict[str, list[str]] = {name: [] for name in list(graded)[:QUESTIONS_SHOWN]}
    missing = EXAMPLES * len(shown)
    for answer in stage.iterate_new_answers():
        examples = shown.get(names[answer.question])
        if examples is None or len(examples) == EXAMPLES or not answer.text:
            continue
        worker = stage.workers[answer.worker].name
        examples.append(f"{shorten_example(worker)}: “{shorten_example(answer.text)}”")
        missing -= 1
        if not missing:
            break
    for name, examples in shown.items():
        text = graded[name].text
        wording = f" “{shorten_example(text)}”" if text and text != name else ""
        yield f"Question {shorten_example(name)}{wording}: {'; '.join(examples) or 'no answer'}"
    if len(graded) > len(shown):
        yield f"... and {len(graded) - len(shown):,} more questions"


def _iterate_answer_rows(stage: StagedBatch) -> Iterator[Sequence[object]]:
    """Yield the rows of the table of answers (columns: `ANSWERS`), without attention checks."""
    names = list(stage.questions)
    graded = _select_graded_questions(stage)
    for answer in stage.iterate_new_answers():
        if names[answer.question] not in graded:
            continue  # a run would grade an attention check as any other question
        worker = stage.workers[answer.worker]
        extra = decode_extra_cells(answer.extra, stage.file.kept_aside)
        times = (worker.started_at, worker.last_seen_at, worker.submitted_at)
        yield (
            worker.name,
            names[answer.question],
            answer.text,
            worker.panel,
            "text" if answer.text else "empty",
            YES[1] if answer.rejected else None,
            answer.started,
            answer.submitted,
            answer.seconds,
            worker.state or None,
            *(time and time.isoformat() for time in times),
            json.dumps(extra, ensure_ascii=False, sort_keys=True) if extra else None,
            FORMAT,
        )
