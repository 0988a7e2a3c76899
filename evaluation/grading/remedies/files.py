"""What remedies need of files: whom to leave out, and graded answers."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from annotations.exchange import AnchorFile, AnswerFile, ColumnNames, InputError, WorkerList
from annotations.exchange.problems import Problems
from annotations.exchange.reading.outside_information import given_workers
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.parameters import AqerParameters
from evaluation.files.problem_messages import file_error, note_problem
from evaluation.options import TERMINAL
from evaluation.texts.near import perhaps

LOOK = "Check the id; ids are case-sensitive."


def listed_workers(
    text: str, columns: ColumnNames, answers: AnswerFile, given: GradingInput
) -> WorkerList:
    """Return who is named of those who are graded, by a file or ids in the text itself.

    Raises `InputError` for every id that is in no answer, with ids like it.
    """
    listed = given_workers(text, columns)
    voting = set(given.workers)
    known = dict.fromkeys(record.worker for record in answers.records)
    problems = Problems(listed.name)
    for worker, line in listed.lines.items():
        if worker not in known:
            note_problem(
                problems,
                line or None,
                "worker" if line else None,
                "listed_worker_unknown",
                worker=perhaps(worker, known),
                answers=answers.name,
                look=LOOK if line else f"{LOOK} There is no file of that name either.",
            )
    problems.raise_if_any()
    # Whose answers were all rejected has no vote already.
    lines = {worker: line for worker, line in listed.lines.items() if worker in voting}
    return replace(listed, lines=lines)


def refuse_to_leave_nobody(excluded: WorkerList, given: GradingInput) -> None:
    """Raise `InputError` where everybody who is graded would be excluded."""
    if len(excluded.lines) == len(given.workers):
        raise InputError.single(
            excluded.name, "all workers are in it", "Leave somebody to grade by."
        )


def refuse_problems(name: str, parameters: AqerParameters) -> None:
    """Raise `InputError` for what contradicts each other once `name` was read."""
    for problem in parameters.problems():
        raise InputError.single(
            name, TERMINAL.told(AqerParameters, problem), "Give both, or neither."
        )


def anchors_of(anchors: AnchorFile, answers: str, given: GradingInput) -> list[tuple[int, float]]:
    """Return rows of answers and their grades. Raises `InputError` for each that is not there."""
    answered = given.answered
    keys = zip(answered.workers, answered.questions, strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    workers, questions = set(given.workers), set(given.questions)
    problems = Problems(anchors.name)
    found = []
    for anchor in anchors.records:
        row = row_of.get((anchor.worker, anchor.question))
        if row is not None:
            found.append((row, anchor.grade))
        elif anchor.worker not in workers:
            unknown = {"worker": anchor.worker[:60], "answers": answers, "look": LOOK}
            note_problem(problems, anchor.line, "worker", "listed_worker_unknown", **unknown)
        elif anchor.question not in questions:
            unknown = {"question": anchor.question[:60], "answers": answers, "look": LOOK}
            note_problem(problems, anchor.line, "question", "graded_question_unknown", **unknown)
        else:
            named = {"worker": anchor.worker[:60], "question": anchor.question[:60]}
            note_problem(problems, anchor.line, None, "anchor_unknown", **named)
    problems.raise_if_any()
    return found


def refuse_to_replace_grades(anchors: Path) -> None:
    """Raise `InputError` if suggestions would be written over a file that an expert filled in."""
    try:
        with anchors.open(encoding="utf-8-sig", newline="") as file:
            graded = any((row.get("grade") or "").strip() for row in csv.DictReader(file))
    except FileNotFoundError:
        return
    except (OSError, ValueError, csv.Error):
        graded = True  # not as it was written: somebody's work, or somebody's file
    if graded:
        raise file_error(anchors.name, "grades_replaced", path=anchors)
