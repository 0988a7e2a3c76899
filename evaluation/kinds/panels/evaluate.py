"""Panels over files: ``manage.py evaluate panels ANSWERS --models FILE --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.files.panels import PanelsRequest, panels_of_files
from evaluation.flow.panels.parameters import PanelsParameters
from evaluation.kinds.answer_files import (
    add_answers,
    add_columns,
    add_keep_thinking,
    add_models,
    add_output,
)
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.kinds.panels.terminal import text_of

EPILOG = """\
Three panels make exemplary answers by AQER: people, models, both together; a fourth is people
without the workers whom an alarm flags as answering like a model. Two random halves of the people
show how far apart panels of one kind are. Every model is scored by each panel, without its own
share.

Written into DIR: panels.csv, panel_distances.csv, panel_models.csv, panel_questions.csv,
summary.json. platform/docs/data-formats.md says what is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside its options."""
    add_answers(parser)
    add_models(parser, required=True)
    add_keep_thinking(parser)
    add_output(parser)
    add_columns(parser)


def evaluate(parameters: PanelsParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Compare, write the files, and say what came out and where it is."""
    request = PanelsRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        models=arguments["models"],
        keep_thinking=arguments["keep_thinking"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
    )
    with OutputFolder(request.output) as folder:
        made = panels_of_files(request, progress)
        made.write(folder)
    told = [text_of(made.found), *(f"Warning: {warning}" for warning in made.warnings)]
    return "\n\n".join([*told, f"Files: {request.output}"])


EVALUATE = Evaluation(
    help="the consensus of people, of models and of both, compared",
    description="Compare the consensus of people, of models and of both together.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
