"""Plans over files: ``manage.py evaluate plan ANSWERS --pay .20 --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.files.plan import PlanRequest, plan_file
from evaluation.flow.plan.wishes import PlanParameters
from evaluation.kinds.answer_files import add_answers, add_columns, add_models, add_output
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.kinds.plan.terminal import text_of

EPILOG = """\
The answers are graded as `evaluate aqer` does; from how far apart they are follows how far off the
consensus of each question is, and what further answers and questions would change.

Written into DIR: plan_questions.csv (question, answers now, more wanted, cost), plan_workers.csv,
summary.json. platform/docs/data-formats.md says what is in them, platform/docs/evidence.md how near
such forecasts came.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside its options."""
    add_answers(parser)
    add_models(parser)
    add_output(parser)
    add_columns(parser)


def evaluate(parameters: PlanParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Plan, write the files, and say what came out and where it is."""
    request = PlanRequest(
        answers=arguments["answers"],
        models=arguments["models"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        duplicates=arguments["duplicates"],
    )
    with OutputFolder(request.output) as folder:
        made = plan_file(request, progress)
        made.write(folder)
    warnings = (f"Warning: {warning}" for warning in made.graded.warnings)
    return "\n\n".join([text_of(made.found), *warnings, f"Files: {request.output}"])


EVALUATE = Evaluation(
    help="how many more answers, to which questions, at what cost",
    description="Plan further answers: to which questions, for whose intervals, for how much.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
