"""MAQA asked and evaluated: ``manage.py study maqa QUESTIONS --model SPEC --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.asking import Asking
from evaluation.files.maqa_study import (
    ALL,
    MOST_TOP,
    NONE,
    TOP,
    MaqaStudyRequest,
    study_maqa,
)
from evaluation.flow.maqa.run_options import MaqaRunOptions
from evaluation.kinds.kind import Progress, Studied, Study
from evaluation.kinds.maqa.evaluate import drawn, report
from evaluation.words.console import at_least

EPILOG = """\
Every question is put in a fresh conversation, which asks for a JSON list and a confidence from 0 to
100; with --samples it is asked again, for the consistency (choose a --temperature above 0 then).
With --first-tokens top the server is asked for the likeliest tokens at each place; with all, which
is so for the packaged model anyway, it is asked again with the reply up to each answer for every
token that it has. It has to go on where such a reply breaks off, as llama.cpp does; a server that
does not is found out and counted.

DIR then holds the tables of evaluate maqa, replies.csv, and replies.jsonl, which evaluate maqa
takes as --replies.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the study takes beside its options and those of asking."""
    add = parser.add_argument
    add("questions", type=Path, metavar="QUESTIONS", help="JSON list of questions and answers")
    add(
        "--samples",
        type=at_least(1),
        default=1,
        metavar="N",
        help="replies to each question (%(default)s)",
    )
    add("--first", type=at_least(1), metavar="N", help="ask the first N questions only")
    add(
        "--first-tokens",
        choices=(NONE, TOP, ALL),
        help="what to ask of the distribution at the first token of each answer: nothing, the "
        "likeliest tokens, or all (default: all for the packaged model, else none)",
    )
    add(
        "--top",
        type=at_least(1),
        default=MOST_TOP,
        metavar="K",
        help="how many likeliest tokens to ask for (%(default)s)",
    )
    add(
        "--vocabulary",
        type=at_least(1),
        metavar="V",
        help="how many tokens the model has, for the upper end of the entropy",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")


def run(
    parameters: MaqaRunOptions, arguments: Mapping[str, Any], asking: Asking, progress: Progress
) -> Studied:
    """Ask, evaluate, write, and say what came out."""
    request = MaqaStudyRequest(
        arguments["questions"],
        arguments["samples"],
        arguments["first"],
        parameters.evaluation(),
        arguments["output"],
        arguments["first_tokens"],
        arguments["top"],
        arguments["vocabulary"],
        drawn,
    )
    study, complete = study_maqa(request, asking, progress)
    return Studied(report(study, request.output), complete)


STUDY = Study(
    help="ask a model questions with several right answers (MAQA)",
    description="Ask a model questions with several right answers, and evaluate its replies.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=run,
)
