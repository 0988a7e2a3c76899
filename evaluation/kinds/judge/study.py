"""A judge over files: ``manage.py study judge ANSWERS --model SPEC --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.files.asking import Asking
from evaluation.files.judge import JudgeRequest, judge_file, prompt_from
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.prompts import COMPARE, SCORE
from evaluation.kinds.answer_files import WITHOUT_MODELS, add_answers, add_columns, add_output
from evaluation.kinds.judge.terminal import text_of
from evaluation.kinds.kind import Progress, Studied, Study

EPILOG = """\
Each answer is scored from 0 to 5 some times, some pairs are compared in both orders; a reply that
gives no number or verdict is asked for once more, and then left empty with the reason. With grades
of experts (--judgements) the judge's error is measured, and mean grades are corrected by it
(prediction-powered inference).

Written into DIR: metrics.csv, judge_scores.csv, judge_pairs.csv, corrected.csv, summary.json (with
the prompts and their hashes), requests.jsonl. platform/docs/data-formats.md says what is in them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside its options."""
    add = parser.add_argument
    add_answers(parser)
    add_output(parser)
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
        help="what the judge is told to score, in place of our own: text with {question}, {answer} "
        "and, if you like, {passage}",
    )
    add(
        "--compare-template",
        type=Path,
        metavar="FILE",
        help="the same to compare: {question}, {first}, {second}, {passage}",
    )
    add_columns(parser, WITHOUT_MODELS)


def study(
    parameters: JudgeParameters, arguments: Mapping[str, Any], asking: Asking, progress: Progress
) -> Studied:
    """Ask, measure, write the files, and say what came out and where it is."""
    request = JudgeRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        # The budget of a study is that of its asking.
        parameters=replace(parameters, budget=None),
        asking=asking,
        output=arguments["output"],
        questions=arguments["questions"],
        passages=arguments["passages"],
        models=arguments["models"],
        grades=arguments["judgements"],
        columns=arguments["columns"],
        score=prompt_from(arguments["score_template"], SCORE),
        compare=prompt_from(arguments["compare_template"], COMPARE),
    )
    done = judge_file(request, progress)
    found = done.findings
    told = text_of(found.system, found.metrics, found.corrected, done.warnings)
    return Studied(f"{told}\n\nFiles: {request.output}", done.complete)


STUDY = Study(
    help="a language model as judge of answers, measured",
    description="Have a language model judge answers, and measure how far it can be relied on.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=study,
)
