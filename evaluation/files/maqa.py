"""MAQA over files: questions and replies in, tables out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
from evaluation.flow.maqa.study import (
    AnswerRow,
    GoldCountRow,
    ItemRow,
    MaqaStudy,
    PositionRow,
    study_replies,
)

ANSWERS = "answers.csv"
POSITIONS = "positions.csv"
GOLD_COUNTS = "gold_counts.csv"
MAQA_FILES = (*FILES, ANSWERS, POSITIONS, GOLD_COUNTS)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class MaqaRequest:
    """What to evaluate, how, and where to."""

    questions: Path
    replies: Path
    parameters: MaqaParameters
    output: Path


def evaluate_maqa(request: MaqaRequest, progress: Progress | None = None) -> MaqaStudy:
    """Judge the replies and write the tables; `InputError` for files that will not do."""
    refuse_to_replace(request.output, MAQA_FILES, (request.questions, request.replies))
    questions = read_several_answers(request.questions)
    replies = read_several_answers_replies(request.replies)
    study = study_replies(request.parameters, questions.questions, replies.replies, progress)
    with OutputFolder(request.output) as folder:
        write_metrics(folder, study.metrics)
        folder.write_csv(ITEMS, ItemRow._fields, study.items())
        folder.write_csv(ANSWERS, AnswerRow._fields, study.answers())
        folder.write_csv(POSITIONS, PositionRow._fields, study.positions())
        folder.write_csv(GOLD_COUNTS, GoldCountRow._fields, study.gold_counts())
        counts = {**study.counts, "reply_lines": replies.n_rows, "repeated": replies.n_repeated}
        summary = study_summary(
            "maqa",
            request.parameters,
            {"questions": questions.sha256, "replies": replies.sha256},
            counts,
            study.exclusions,
            warnings=[*questions.warnings, *replies.warnings, *study.warnings()],
            more={"complete": study.complete},
        )
        folder.write_json(SUMMARY, summary)
    return study
