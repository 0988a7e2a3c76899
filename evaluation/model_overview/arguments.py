"""Arguments and help of ``evaluate views``, which combines the results of other evaluations."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.runs.run_types.kind import Evaluation

EPILOG = """\
FOLDER is the --output of another evaluation of the same models and questions: evaluate aqer (with
--models), eloquent, multiqa, maqa, umwp, or the study of one of them. Its summary.json says which;
KIND=FOLDER says it where there is none. Models and questions are put together by their names and
ids, which have to be the same in all of them. Of two numbers for the same the first one counts.

Written into DIR: views.csv (each model on each question), correlations.csv, models.csv,
disagreements.csv, summary.json and two pictures. platform/docs/data-formats.md describes them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the input folder and output arguments of ``evaluate views`` to the parser."""
    add = parser.add_argument
    add("folders", nargs="+", metavar="FOLDER", help="what other evaluations wrote")
    add(
        "--questions",
        type=Path,
        metavar="FILE",
        help="texts of the questions (question, text), shown where views disagree; the tables "
        "have its order",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


EVALUATE = Evaluation(
    help="combine the results of other evaluations for each model and question",
    description="Combine the results of other evaluations of the same models and questions.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run="evaluation.model_overview.commands.run_evaluate",
)
