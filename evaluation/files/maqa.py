"""MAQA over files: questions and replies in, tables out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from annotations.exchange.reading.several_answers import (
    read_several_answers,
    read_several_answers_replies,
)
from evaluation.files.metrics import (
    FILES,
    ITEMS,
    SUMMARY,
    refuse_to_replace,
    study_summary,
    write_metrics,
)
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.flow.maqa.rows import AnswerRow, GoldCountRow, ItemRow, PositionRow
from evaluation.flow.maqa.study import MaqaStudy, study_replies
from evaluation.flow.maqa.sure_and_right import BinRow, CurveRow, PairRow
from evaluation.options import TERMINAL

ANSWERS = "answers.csv"
POSITIONS = "positions.csv"
GOLD_COUNTS = "gold_counts.csv"
CURVES, CALIBRATION, COMPARISONS = "curves.csv", "calibration.csv", "comparisons.csv"
TABLES = (*FILES, ANSWERS, POSITIONS, GOLD_COUNTS)
MAQA_FILES = (*TABLES, CURVES, CALIBRATION, COMPARISONS)

Progress = Callable[[str, int, int], None]
Pictures = Callable[[MaqaStudy], Mapping[str, bytes]]
"""Draws a study; files by name."""


def no_pictures(_: MaqaStudy) -> Mapping[str, bytes]:
    """Return none."""
    return {}


@dataclass(frozen=True)
class MaqaRequest:
    """What to evaluate, how, and where to."""

    questions: Path
    replies: Path
    parameters: MaqaParameters
    output: Path
    pictures: Pictures = no_pictures
    keep_thinking: bool = False


def evaluate_maqa(request: MaqaRequest, progress: Progress | None = None) -> MaqaStudy:
    """Judge the replies and write the tables; `InputError` for files that will not do."""
    refuse_to_replace(request.output, MAQA_FILES, (request.questions, request.replies))
    with _without_collecting():
        questions = read_several_answers(request.questions)
        replies = read_several_answers_replies(request.replies, request.keep_thinking)
        study = study_replies(request.parameters, questions.questions, replies.replies, progress)
        study.notes += replies.warnings
        hashes = {"questions": questions.sha256, "replies": replies.sha256}
        counts = {"reply_lines": replies.n_rows, "repeated": replies.n_repeated}
        with OutputFolder(request.output) as folder:
            warnings = [*questions.warnings, *replies.warnings]
            write_maqa(folder, study, hashes, counts, warnings, pictures=request.pictures)
    return study


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Let Python look for no cycles meanwhile.

    Millions of records come and none of them is in a cycle; looking through all of them again and
    again takes a third of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def write_maqa(
    folder: OutputFolder,
    study: MaqaStudy,
    hashes: Mapping[str, str],
    counts: Mapping[str, int],
    warnings: Sequence[str],
    more: Mapping[str, Any] | None = None,
    pictures: Pictures = no_pictures,
) -> None:
    """Write tables and pictures; `hashes`, `counts` and `more` go into summary.json."""
    write_metrics(folder, study.metrics)
    folder.write_csv(ITEMS, ItemRow._fields, study.items())
    folder.write_csv(ANSWERS, AnswerRow._fields, study.answers())
    folder.write_csv(POSITIONS, PositionRow._fields, study.positions())
    folder.write_csv(GOLD_COUNTS, GoldCountRow._fields, study.gold_counts())
    folder.write_csv(CURVES, CurveRow._fields, study.curves)
    folder.write_csv(CALIBRATION, BinRow._fields, study.bins)
    folder.write_csv(COMPARISONS, PairRow._fields, study.comparisons)
    for name, content in pictures(study).items():
        with folder.open(name) as file:
            file.write(content)
    summary = study_summary(
        "maqa",
        study.parameters,
        hashes,
        {**study.counts, **counts},
        study.exclusions,
        made=study.made(),
        warnings=[*warnings, *TERMINAL.all_said(study.warnings())],
        more={
            "complete": study.complete,
            "embedding": study.clusters.info and study.clusters.info.as_dict(),
            **(more or {}),
        },
    )
    folder.write_json(SUMMARY, summary)
