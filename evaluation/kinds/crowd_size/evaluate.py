"""Crowd sizes over files: ``manage.py evaluate crowd-size ANSWERS --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.charts.crowd_size import crowd_size_chart
from evaluation.files.crowd_size import TrialRequest, try_file
from evaluation.flow.crowd_size.parameters import CrowdSizeParameters
from evaluation.kinds.answer_files import WITHOUT_MODELS, add_answers, add_columns, add_output
from evaluation.kinds.crowd_size.terminal import text_of
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.methods.crowd_size import QUESTIONS, WORKERS
from evaluation.options import TERMINAL

EPILOG = """\
Parts of the crowd are drawn at random, and all workers are scored against the exemplary answers of
those who were drawn. Compared with experts' grades (--judgements), else with the whole crowd.

Written into DIR: crowd_size.csv (the curve), summary.json, and a picture for each of workers and
questions. platform/docs/data-formats.md says what is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside its options."""
    add = parser.add_argument
    add_answers(parser)
    add(
        "--judgements",
        type=Path,
        metavar="FILE",
        help="experts' grades of some answers: worker, question, grade and, if there are several, "
        "expert",
    )
    add_output(parser)
    add_columns(parser, WITHOUT_MODELS)


def evaluate(
    parameters: CrowdSizeParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Try, write the files, and say what came out and where it is."""
    request = TrialRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        judgements=arguments["judgements"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
    )
    with OutputFolder(request.output) as folder:
        tried = try_file(request, progress)
        tried.write(folder)
        for by in (WORKERS, QUESTIONS):
            chart = crowd_size_chart(tried.found.points, by)
            if chart is not None:
                folder.open(f"{chart.name}.svg").write(chart.standalone().encode())
    warnings = TERMINAL.all_said([*tried.file_warnings, *tried.trial.warnings])
    told = [text_of(tried.found), *(f"Warning: {warning}" for warning in warnings)]
    return "\n\n".join([*told, f"Files: {request.output}"])


EVALUATE = Evaluation(
    help="how many workers and questions are enough, tried on this crowd",
    description="Try smaller parts of a crowd, and say how many workers are enough.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
