"""UMWP asked and evaluated: ``manage.py study umwp PROBLEMS --model SPEC --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.asking import Asking
from evaluation.files.umwp_study import UmwpStudyRequest, study_umwp
from evaluation.flow.umwp.asking import FORMS
from evaluation.flow.umwp.run_options import UmwpRunOptions
from evaluation.kinds.kind import Progress, Studied, Study
from evaluation.kinds.umwp.evaluate import report
from evaluation.words.console import at_least

EPILOG = """\
Every problem is put in a fresh conversation: alone (direct), after a sentence that some problems
have no answer (instruction), or after eight worked examples (in-context). DIR then holds the
tables of evaluate umwp, and replies.csv.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the study takes beside its options and those of asking."""
    add = parser.add_argument
    add("problems", type=Path, metavar="PROBLEMS", help="JSON Lines of problems")
    add(
        "--forms",
        type=_forms,
        default=FORMS,
        metavar="FORM,FORM",
        help=f"of asking: {', '.join(FORMS)} (default: all)",
    )
    add("--first", type=at_least(1), metavar="N", help="ask the first N problems only")
    add(
        "--templates",
        type=Path,
        metavar="FILE",
        help="sentences that say that there is no answer, one a line, in place of the project's",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")


def _forms(text: str) -> tuple[str, ...]:
    forms = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [form for form in forms if form not in FORMS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no form: {', '.join(FORMS)}")
    return forms


def run(
    parameters: UmwpRunOptions, arguments: Mapping[str, Any], asking: Asking, progress: Progress
) -> Studied:
    """Ask, evaluate, write, and say what came out."""
    request = UmwpStudyRequest(
        arguments["problems"],
        arguments["templates"],
        tuple(arguments["forms"]),
        arguments["first"],
        parameters.evaluation(),
        arguments["output"],
    )
    study, complete = study_umwp(request, asking, progress)
    return Studied(report(study, request.output), complete)


STUDY = Study(
    help="ask a model math problems, of which some have no answer, in three forms (UMWP)",
    description="Ask a model math word problems in three forms, and evaluate its replies.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=run,
)
