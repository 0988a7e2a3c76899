"""Arguments and help of ``evaluate crowd-size`` and ``evaluate plan``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.runs.run_types.answer_files import (
    WITHOUT_MODELS,
    add_answers_arguments,
    add_columns_argument,
    add_models_argument,
    add_output_argument,
)
from evaluation.runs.run_types.kind import Evaluation

CROWD_SIZE_EPILOG = """\
Parts of the crowd are drawn at random, and all workers are scored against the exemplary answers of
those who were drawn. Compared with experts' grades (--judgements), else with the whole crowd.

Written into DIR: crowd_size.csv (the curve), summary.json, and a picture for each of workers and
questions. platform/docs/data-formats.md describes them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_crowd_size_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and column arguments of ``evaluate crowd-size`` to the parser."""
    add = parser.add_argument
    add_answers_arguments(parser)
    add(
        "--judgements",
        type=Path,
        metavar="FILE",
        help="experts' grades of some answers: worker, question, grade and, if there are several, "
        "expert",
    )
    add_output_argument(parser)
    add_columns_argument(parser, WITHOUT_MODELS)


EVALUATE_CROWD_SIZE = Evaluation(
    help="how many workers and questions are enough, tried on this crowd",
    description="Try smaller parts of a crowd and estimate how many workers are enough.",
    epilog=CROWD_SIZE_EPILOG,
    add_arguments=add_crowd_size_arguments,
    run="evaluation.sample_size.commands.run_crowd_size",
)

PLAN_EPILOG = """\
The answers are graded as `evaluate aqer` does; from how far apart they are follows how far off the
consensus of each question is, and what further answers and questions would change.

Written into DIR: plan_questions.csv (question, answers now, more wanted, cost), plan_workers.csv,
summary.json. platform/docs/data-formats.md says what is in them, platform/docs/evidence.md how near
such forecasts came.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and column arguments of ``evaluate plan`` to the parser."""
    add_answers_arguments(parser)
    add_models_argument(parser)
    add_output_argument(parser)
    add_columns_argument(parser)


EVALUATE_PLAN = Evaluation(
    help="how many more answers, to which questions, at what cost",
    description="Plan further answers: to which questions, for whose intervals, for how much.",
    epilog=PLAN_EPILOG,
    add_arguments=add_plan_arguments,
    run="evaluation.sample_size.commands.run_plan",
)
