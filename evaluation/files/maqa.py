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
from evaluation.options import TERMINAL

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
    with _without_collecting():
        questions = read_several_answers(request.questions)
        replies = read_several_answers_replies(request.replies)
        study = study_replies(request.parameters, questions.questions, replies.replies, progress)
        hashes = {"questions": questions.sha256, "replies": replies.sha256}
        counts = {"reply_lines": replies.n_rows, "repeated": replies.n_repeated}
        with OutputFolder(request.output) as folder:
            write_maqa(folder, study, hashes, counts, [*questions.warnings, *replies.warnings])
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
) -> None:
    """Write the tables; `hashes` of the inputs, `counts` and `more` go into summary.json."""
    write_metrics(folder, study.metrics)
    folder.write_csv(ITEMS, ItemRow._fields, study.items())
    folder.write_csv(ANSWERS, AnswerRow._fields, study.answers())
    folder.write_csv(POSITIONS, PositionRow._fields, study.positions())
    folder.write_csv(GOLD_COUNTS, GoldCountRow._fields, study.gold_counts())
    summary = study_summary(
        "maqa",
        study.parameters,
        hashes,
        {**study.counts, **counts},
        study.exclusions,
        made=_made(study),
        warnings=[*warnings, *TERMINAL.all_said(study.warnings())],
        more={
            "complete": study.complete,
            "embedding": study.clusters.info and study.clusters.info.as_dict(),
            **(more or {}),
        },
    )
    folder.write_json(SUMMARY, summary)


def _made(study: MaqaStudy) -> dict[str, str]:
    """Return the parts of the signature that tell how replies of one meaning were found, if so."""
    parameters, info = study.parameters, study.clusters.info
    if study.clusters.entailment:
        return {
            "nli": study.clusters.entailment.replace("|", "/"),
            "entailment": f"{parameters.entailment:g}",
        }
    if info is None:
        return {}
    return {
        "embedder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        "same_cosine": f"{parameters.same_cosine:g}",
    }
