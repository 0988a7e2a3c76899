"""Read the input files of remedies: lists of workers, and answers graded by an expert."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from annotations.exchange import AnchorFile, AnswerFile, ColumnNames, InputError, WorkerList
from annotations.exchange.problems import Problems
from annotations.exchange.reading.outside_information import read_worker_argument
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import TERMINAL
from evaluation.core.text.similar_ids import format_suggestion
from evaluation.runs.files.problem_messages import add_problem, build_error

LOOK = "Check the id; ids are case-sensitive."


def read_listed_workers(
    text: str, columns: ColumnNames, answers: AnswerFile, given: GradingInput
) -> WorkerList:
    """Return the graded workers listed in a file or in the text of the option itself.

    Raises `InputError` for every id that is in no answer, with similar ids.
    """
    listed = read_worker_argument(text, columns)
    graded_workers = set(given.workers)
    known_workers = dict.fromkeys(record.worker for record in answers.records)
    problems = Problems(listed.name)
    for worker, line in listed.lines.items():
        if worker not in known_workers:
            add_problem(
                problems,
                line or None,
                "worker" if line else None,
                "listed_worker_unknown",
                worker=format_suggestion(worker, known_workers),
                answers=answers.name,
                look=LOOK if line else f"{LOOK} There is no file of that name either.",
            )
    problems.raise_if_any()
    # Whose answers were all rejected has no vote already.
    lines = {worker: line for worker, line in listed.lines.items() if worker in graded_workers}
    return replace(listed, lines=lines)


def refuse_to_exclude_all(excluded: WorkerList, given: GradingInput) -> None:
    """Raise `InputError` if all graded workers would be excluded."""
    if len(excluded.lines) == len(given.workers):
        raise InputError.single(
            excluded.name, "all workers are in it", "Leave somebody to grade by."
        )


def refuse_problems(name: str, parameters: AqerParameters) -> None:
    """Raise `InputError` for contradictory parameters; `name` is the file it is reported for."""
    for problem in parameters.problems():
        raise InputError.single(
            name, TERMINAL.told(AqerParameters, problem), "Give both, or neither."
        )


def find_anchor_rows(
    anchors: AnchorFile, answers: str, given: GradingInput
) -> list[tuple[int, float]]:
    """Return row and grade of each expert-graded answer; `InputError` for unknown answers."""
    answered = given.answered
    keys = zip(answered.workers, answered.questions, strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    workers, questions = set(given.workers), set(given.questions)
    problems = Problems(anchors.name)
    anchor_rows = []
    for anchor in anchors.records:
        row = row_of.get((anchor.worker, anchor.question))
        if row is not None:
            anchor_rows.append((row, anchor.grade))
        elif anchor.worker not in workers:
            unknown = {"worker": anchor.worker[:60], "answers": answers, "look": LOOK}
            add_problem(problems, anchor.line, "worker", "listed_worker_unknown", **unknown)
        elif anchor.question not in questions:
            unknown = {"question": anchor.question[:60], "answers": answers, "look": LOOK}
            add_problem(problems, anchor.line, "question", "graded_question_unknown", **unknown)
        else:
            labels = {"worker": anchor.worker[:60], "question": anchor.question[:60]}
            add_problem(problems, anchor.line, None, "anchor_unknown", **labels)
    problems.raise_if_any()
    return anchor_rows


def refuse_to_replace_grades(anchors: Path) -> None:
    """Raise `InputError` if suggestions would replace a file that holds an expert's grades."""
    try:
        with anchors.open(encoding="utf-8-sig", newline="") as file:
            graded = any((row.get("grade") or "").strip() for row in csv.DictReader(file))
    except FileNotFoundError:
        return
    except (OSError, ValueError, csv.Error):
        graded = True  # not as it was written: somebody's work, or somebody's file
    if graded:
        raise build_error(anchors.name, "grades_replaced", path=anchors)
