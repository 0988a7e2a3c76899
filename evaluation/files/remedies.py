"""What remedies need of files: whom to leave out, and graded answers."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from annotations.exchange import AnchorFile, AnswerFile, ColumnNames, InputError, WorkerList
from annotations.exchange.problems import Problems
from annotations.exchange.reading.outside_information import given_workers
from evaluation.flow.inputs import GradingInput
from evaluation.texts.near import perhaps

LOOK = "Check the id; ids are case-sensitive."


def excluded_workers(
    text: str, columns: ColumnNames, answers: AnswerFile, given: GradingInput
) -> WorkerList:
    """Return whom to exclude of those who are graded, by a file or ids in the text itself.

    Raises `InputError` for every id that is in no answer, with ids like it.
    """
    listed = given_workers(text, columns)
    voting = set(given.workers)
    known = dict.fromkeys(record.worker for record in answers.records)
    problems = Problems(listed.name)
    for worker, line in listed.lines.items():
        if worker not in known:
            reason = f"there is no worker {perhaps(worker, known)} in {answers.name}"
            look = LOOK if line else f"{LOOK} There is no file of that name either."
            problems.add(line or None, "worker" if line else None, reason, look)
    problems.raise_if_any()
    # Whose answers were all rejected has no vote already.
    lines = {worker: line for worker, line in listed.lines.items() if worker in voting}
    listed = replace(listed, lines=lines)
    if len(voting) == len(lines):
        problems.add(None, None, "all workers are in it", "Leave somebody to grade by.")
    problems.raise_if_any()
    return listed


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
            reason = f"there is no worker {anchor.worker[:60]} in {answers}"
            problems.add(anchor.line, "worker", reason, LOOK)
        elif anchor.question not in questions:
            reason = f"there is no question {anchor.question[:60]} in {answers}"
            problems.add(anchor.line, "question", reason, LOOK)
        else:
            problems.add(
                anchor.line,
                None,
                f"{anchor.worker[:60]} gave no answer to question {anchor.question[:60]}",
                "Grade answers that are there, or delete the row.",
            )
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
        raise InputError.single(
            anchors.name,
            f"{anchors} holds grades, which new suggestions would replace",
            "Choose another --output, or move the file away.",
        )
