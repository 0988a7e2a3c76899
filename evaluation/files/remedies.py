"""What remedies need of files: whom to leave out, graded answers, corrected texts."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from annotations.exchange import (
    AnchorFile,
    AnswerFile,
    AnswerRecord,
    ColumnNames,
    InputError,
    WorkerList,
    read_anchors,
    read_workers,
)
from annotations.exchange.problems import Problems
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.remedies import OutsideInformation

LOOK = "Check the id; ids are case-sensitive."


def excluded_workers(path: Path, columns: ColumnNames, answers: AnswerFile) -> WorkerList:
    """Return whom to exclude. Raises `InputError` for every id that is in no answer."""
    listed = read_workers(path, columns)
    known = {record.worker for record in answers.records}
    problems = Problems(listed.name)
    for worker, line in listed.lines.items():
        if worker not in known:
            reason = f"there is no worker {worker[:60]} in {answers.name}"
            problems.add(line, "worker", reason, LOOK)
    problems.raise_if_any()
    if len(known) == len(listed.lines):
        problems.add(None, None, "all workers are in it", "Leave somebody to grade by.")
    problems.raise_if_any()
    return listed


def outside_information(
    parameters: AqerParameters,
    answers: AnswerFile,
    answered: Sequence[AnswerRecord],
    anchors: AnchorFile | None,
) -> OutsideInformation:
    """Line up graded answers with the answers. Raises `InputError` for each that is not there."""
    outside = OutsideInformation(
        texts=[record.text for record in answered], excluded=parameters.exclude_workers
    )
    if anchors is None:
        return outside
    row_of = {(record.worker, record.question): row for row, record in enumerate(answered)}
    workers = {record.worker for record in answers.records}
    questions = {record.question for record in answers.records}
    problems = Problems(anchors.name)
    rows = []
    for anchor in anchors.records:
        row = row_of.get((anchor.worker, anchor.question))
        if row is not None:
            rows.append(row)
        elif anchor.worker not in workers:
            reason = f"there is no worker {anchor.worker[:60]} in {answers.name}"
            problems.add(anchor.line, "worker", reason, LOOK)
        elif anchor.question not in questions:
            reason = f"there is no question {anchor.question[:60]} in {answers.name}"
            problems.add(anchor.line, "question", reason, LOOK)
        else:
            problems.add(
                anchor.line,
                None,
                f"{anchor.worker[:60]} gave no answer to question {anchor.question[:60]}",
                "Grade answers that are there, or delete the row.",
            )
    problems.raise_if_any()
    grades = [anchor.grade for anchor in anchors.records]
    return replace(outside, anchor_rows=rows, anchor_grades=grades)


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


def graded_answers(path: Path | None, columns: ColumnNames) -> AnchorFile | None:
    """Return the file of anchors, if there is one. Raises `InputError`."""
    return None if path is None else read_anchors(path, columns)
