"""Arguments and help text of ``manage.py evaluate experts``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.runs.run_types.answer_files import add_columns_argument, add_output_argument
from evaluation.runs.run_types.kind import Evaluation

EPILOG = """\
JUDGEMENTS holds experts' grades of answers, 0 to 5: worker or model, question, grade, expert and,
if some settle what others disagree on, settles (1); if some parts were drawn more densely than
others, weight: how many of all answers this one represents, its weight in the correlations with
scores, in difficulties and in means. --scores is the --output of evaluate aqer.

Written into DIR: agreement.csv, difficulty.csv, estimates.csv and summary.json.
platform/docs/data-formats.md describes them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the file of grades, the folder with scores, and the output folder."""
    add = parser.add_argument
    add("judgements", type=Path, metavar="JUDGEMENTS", help="experts' grades of answers, 0 to 5")
    add(
        "--scores",
        type=Path,
        metavar="FOLDER",
        help="what evaluate aqer wrote: correlations with the scores, and mean grades of workers "
        "and models that rest on all their answers",
    )
    add(
        "--chosen",
        action="store_true",
        help="the graded answers were picked, not drawn at random: nothing is then estimated "
        "for ungraded answers",
    )
    add_output_argument(parser)
    add_columns_argument(parser)


EVALUATE = Evaluation(
    help="how far experts agree, how hard questions are, what workers and models are worth",
    description="Evaluate experts' grades of answers.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run="evaluation.experts.commands.run_evaluate",
)
