"""ELOQUENT asked and evaluated: ``manage.py study eloquent PROMPTS --model SPEC --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.files.asking import Asking
from evaluation.files.eloquent_study import StudyRequest, study_files
from evaluation.files.submissions import LABEL, Submitter, file_name, submissions
from evaluation.flow.eloquent.run_options import EloquentRunOptions
from evaluation.kinds.eloquent.evaluate import add_prompts, write_all
from evaluation.kinds.eloquent.terminal import report_of_files
from evaluation.kinds.kind import Progress, Studied, Study
from evaluation.words.console import at_least, number_from_zero

EPILOG = """\
Every prompt is put in a conversation of its own. DIR then holds the tables of evaluate eloquent,
and submission_SYSTEM_LANGUAGE.json: the lab's form, a file for each language. Several systems:
a folder each, then evaluate eloquent PROMPTS --replies A/replies.csv --replies B/replies.csv
--judgements A/judgements.csv --judgements B/judgements.csv.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the study takes beside its options and those of asking."""
    add_prompts(parser)
    add = parser.add_argument
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")
    add(
        "--system",
        default="",
        metavar="TEXT",
        help="what the model is told first (default: nothing)",
    )
    add(
        "--follow-up",
        action="append",
        default=[],
        metavar="TEXT",
        help="goes on with each conversation once the model has replied; several, one by one",
    )
    add(
        "--changed-prompts",
        type=Path,
        metavar="FILE",
        help="prompts that are put otherwise: item, language, variant (from 1), prompt and reason",
    )
    add(
        "--judge",
        action="append",
        default=[],
        metavar="SPEC",
        help="a model that compares the replies of each item and language; several judges agree "
        "or not, which is told",
    )
    add(
        "--repeats",
        type=at_least(1),
        default=1,
        metavar="K",
        help="how often each judge is asked the same; beyond 1 choose a --judge-temperature "
        "(%(default)s)",
    )
    add(
        "--judge-temperature",
        type=number_from_zero(),
        default=0.0,
        metavar="X",
        help="of the judges (%(default)g)",
    )
    add(
        "--judge-max-tokens",
        type=at_least(1),
        default=512,
        metavar="N",
        help="longest reply of a judge, its notes and its score (%(default)s)",
    )
    add(
        "--judge-key-variable",
        metavar="NAME",
        help="environment variable with the judges' key (default: that of --key-variable)",
    )
    add("--team", default="", metavar="NAME", help="for the submission form")
    add("--submission-id", default="1", metavar="ID", help="for the submission form (%(default)s)")


def study(
    parameters: EloquentRunOptions,
    arguments: Mapping[str, Any],
    asking: Asking,
    progress: Progress,
) -> Studied:
    """Ask, evaluate, write the tables and the submissions, and say what came out."""
    submitter = Submitter(
        arguments["team"],
        arguments["submission_id"],
        datetime.now(UTC).date().isoformat(),
        LABEL,
    )
    request = StudyRequest(
        prompts=arguments["prompts"],
        output=arguments["output"],
        parameters=parameters.evaluation(),
        repair=arguments["repair"],
        system=arguments["system"],
        follow_ups=tuple(arguments["follow_up"]),
        changed=arguments["changed_prompts"],
        judges=tuple(arguments["judge"]),
        repeats=arguments["repeats"],
        judge_temperature=arguments["judge_temperature"],
        judge_max_tokens=arguments["judge_max_tokens"],
        judge_key_variable=arguments["judge_key_variable"] or asking.key_variable,
        submitter=submitter,
    )
    done = study_files(request, asking, progress)
    with OutputFolder(request.output) as folder:
        write_all(folder, done.evaluated)
        for form in submissions(done.evaluated.findings.replies, submitter):
            folder.write_json(file_name(form), form)
    return Studied(report_of_files(done.evaluated, request.output), done.complete)


STUDY = Study(
    help="ask a model prompts that mean the same, and a judge how alike its replies are",
    description="Put prompts that ask for the same in other words to a model, and compare its "
    "replies.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=study,
)
