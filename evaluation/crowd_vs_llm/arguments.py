"""Arguments and help of ``evaluate panels``."""

from __future__ import annotations

import argparse

from evaluation.runs.run_types.answer_files import (
    add_answers_arguments,
    add_columns_argument,
    add_keep_thinking_argument,
    add_models_argument,
    add_output_argument,
)
from evaluation.runs.run_types.kind import Evaluation

EPILOG = """\
Three panels make exemplary answers by AQER: people, models, both together; a fourth is people
without the workers flagged by an alarm for answers like a model's. Two random halves of the people
show how far apart panels of one kind are. Every model is scored by each panel, without its own
share.

Written into DIR: panels.csv, panel_distances.csv, panel_models.csv, panel_questions.csv,
summary.json. platform/docs/data-formats.md describes them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and column arguments of ``evaluate panels`` to the parser."""
    add_answers_arguments(parser)
    add_models_argument(parser, required=True)
    add_keep_thinking_argument(parser)
    add_output_argument(parser)
    add_columns_argument(parser)


EVALUATE = Evaluation(
    help="the consensus of people, of models and of both, compared",
    description="Compare the consensus of people, of models and of both together.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run="evaluation.crowd_vs_llm.commands.run_evaluate",
)
