"""Arguments and help of ``study judge``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.runs.run_types.answer_files import (
    WITHOUT_MODELS,
    add_answers_arguments,
    add_columns_argument,
    add_output_argument,
)
from evaluation.runs.run_types.kind import Study

EPILOG = """\
Each answer is scored from 0 to 5 several times, some pairs are compared in both orders; a reply
that gives no number or verdict is asked for once more, and then left empty with the reason. With
grades of experts (--judgements) the judge's error is measured, and mean grades are corrected by it
(prediction-powered inference).

Written into DIR: metrics.csv, judge_scores.csv, judge_pairs.csv, corrected.csv, summary.json (with
the prompts and their hashes), requests.jsonl. platform/docs/data-formats.md describes them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and column arguments of ``study judge`` to the parser."""
    add = parser.add_argument
    add_answers_arguments(parser)
    add_output_argument(parser)
    add(
        "--questions",
        type=Path,
        metavar="FILE",
        help="wordings of the questions: question (or id) and text, and passage; without it the "
        "judge sees the ids",
    )
    add("--passages", type=Path, metavar="FILE", help="texts that the questions are about")
    add("--models", type=Path, metavar="FILE", help="answers of language models, judged as well")
    add(
        "--judgements",
        type=Path,
        metavar="FILE",
        help="experts' grades of some answers, 0 to 5: worker (or model), question, grade and, if "
        "there are several, expert",
    )
    add(
        "--score-template",
        type=Path,
        metavar="FILE",
        help="the judge's instruction, in place of the default: text with {question}, {answer} "
        "and, if you like, {passage}",
    )
    add(
        "--compare-template",
        type=Path,
        metavar="FILE",
        help="the same to compare: {question}, {first}, {second}, {passage}",
    )
    add_columns_argument(parser, WITHOUT_MODELS)


STUDY = Study(
    help="a language model as judge of answers, measured",
    description="Have a language model judge answers, and measure how far it can be relied on.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run="evaluation.llm_judge.commands.run_study",
)
