"""MAQA over files: ``manage.py evaluate maqa QUESTIONS --replies FILE --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.maqa import MAQA_FILES, MaqaRequest, evaluate_maqa
from evaluation.flow.maqa.columns import SETS, SURENESS
from evaluation.flow.maqa.run_options import MaqaRunOptions
from evaluation.flow.maqa.study import MaqaStudy
from evaluation.flow.metrics import OVERALL, MetricRow
from evaluation.kinds.answer_files import add_keep_thinking
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.kinds.maqa.pictures import files
from evaluation.options import TERMINAL
from evaluation.words.console import text_table
from evaluation.words.reasons import in_words

MEASURED = ("auroc", "average_precision", "base_rate", "coverage")

EPILOG = """\
QUESTIONS is a list of {"question", "answer"} in JSON, where an answer is a text, a number or a list
of spellings of one answer; the id of a question is its place, from 0, unless it has an "id".

The replies are JSON Lines: system, item (the id of the question), sample (0, 1, ...), and either
reply, the text, or what was read out of it: answers, confidence (0 to 100), first_token, a list of
{"answer", "logits"} or {"answer", "top_logprobs", "vocabulary"}; and logprobs, those of its tokens.

SPEC is minilm (default), sentence-transformers:NAME, openai:MODEL@URL, tfidf-word, tfidf-char; it
is needed where a system has several replies to a question that differ.

Written into DIR: metrics.csv, items.csv, summary.json, answers.csv, positions.csv,
gold_counts.csv, curves.csv, calibration.csv, comparisons.csv, and a picture (SVG) for each measure.
platform/docs/data-formats.md says what is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside the options."""
    add = parser.add_argument
    add("questions", type=Path, metavar="QUESTIONS", help="JSON list of questions and answers")
    add(
        "--replies",
        type=Path,
        metavar="FILE",
        required=True,
        help="what the systems replied, JSON Lines",
    )
    add_keep_thinking(parser)
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


def evaluate(parameters: MaqaRunOptions, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Evaluate, write the tables, and say what came out and where it is."""
    request = MaqaRequest(
        arguments["questions"],
        arguments["replies"],
        parameters.evaluation(),
        arguments["output"],
        drawn,
        arguments["keep_thinking"],
    )
    return report(evaluate_maqa(request, progress), request.output)


def drawn(study: MaqaStudy) -> Mapping[str, bytes]:
    """Return the pictures of a study as files, by name."""
    return files(study.curves, study.bins)


def report(study: MaqaStudy, output: Path) -> str:
    """Return what came out, for a terminal."""
    found: dict[str, dict[str, MetricRow]] = {}
    for row in study.metrics:
        if row.group == OVERALL:
            found.setdefault(row.system, {})[row.metric] = row
    scores = [
        (system, rows["f1"].n, *(rows[name].value for name in SETS))
        for system, rows in found.items()
    ]
    parts = [text_table(("system", "questions", *SETS), scores)]
    sure = [
        (system, name, *(rows[f"{what}_{name}"].value for what in MEASURED))
        for system, rows in found.items()
        for name in SURENESS
        if rows[f"coverage_{name}"].value
    ]
    if sure:
        parts.append(text_table(("system", "sureness", *MEASURED), sure))
    left_out = [
        f"  {one['count']:,}: {in_words(one['reason'])}" for one in study.exclusions.as_list()
    ]
    if left_out:
        parts.append("\n".join(["Not counted:", *left_out]))
    parts += [*study.notes, *TERMINAL.all_said(study.warnings())]
    parts.append(f"Written into {output}: {', '.join(MAQA_FILES)}")
    return "\n\n".join(parts)


EVALUATE = Evaluation(
    help="score replies to questions with several right answers (MAQA)",
    description="Score sets of answers, and how well a model knows when it is right.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
