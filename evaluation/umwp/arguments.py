"""Arguments and help of ``evaluate umwp`` and ``study umwp``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.core.messages.console import build_minimum_type
from evaluation.runs.run_types.answer_files import (
    WITHOUT_MODELS,
    add_columns_argument,
    add_keep_thinking_argument,
)
from evaluation.runs.run_types.kind import Evaluation, Study
from evaluation.umwp.prompts import FORMS

EVALUATE_EPILOG = """\
PROBLEMS are the JSON Lines of the data set: id, question, answer (a list of numbers, or null),
answerable, category (1 to 5, or null), relevant_ids, source.

The replies are CSV, TSV, JSON Lines or XLSX: system, id, form (direct, instruction,
in-context), reply and, if you like, status. Forms are never pooled.

--people are answers of people to the problems, as evaluate aqer reads them (worker, question,
answer): the tables show them as the system people. --labels are annotators' labels of the replies:
system, id, form, annotator, label (yes: it says that there is no answer; no; cannot_tell).
--unrelated are labels of the same layout (yes: the reply has content unrelated to its problem).

SPEC is an embedder as in evaluate aqer, but no file of vectors; minilm by default.

Written into DIR: metrics.csv, items.csv, pairs.csv, ablation.csv, summary.json, and with the
options above people.csv, labels.csv and unrelated_content.csv; with --systems sizes.csv,
size_trends.csv and f1_by_size.svg. platform/docs/data-formats.md describes them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and column arguments of ``evaluate umwp`` to the parser."""
    add = parser.add_argument
    add("problems", type=Path, metavar="PROBLEMS", help="JSON Lines of problems")
    add("--replies", type=Path, metavar="FILE", required=True, help="what the systems replied")
    add_keep_thinking_argument(parser)
    add(
        "--templates",
        type=Path,
        metavar="FILE",
        help="sentences that state that there is no answer, one a line, in place of the project's",
    )
    add("--labels", type=Path, metavar="FILE", help="annotators' labels of the replies")
    add(
        "--unrelated",
        type=Path,
        metavar="FILE",
        help="annotators' labels of whether a reply has content unrelated to its problem, in the "
        "layout of --labels",
    )
    add("--people", type=Path, metavar="FILE", help="what people answered to the problems")
    add_columns_argument(parser, WITHOUT_MODELS)
    add(
        "--systems",
        type=Path,
        metavar="FILE",
        help="system, size (7B), tuning and family, for F1 by the size of the model",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


EVALUATE = Evaluation(
    help="measure whether models notice that a problem has no answer (UMWP)",
    description="Classify replies to math word problems, of which some have no answer.",
    epilog=EVALUATE_EPILOG,
    add_arguments=add_evaluate_arguments,
    run="evaluation.umwp.commands.run_evaluate",
)


STUDY_EPILOG = """\
Every problem is put in a fresh conversation: alone (direct), after a sentence that some problems
have no answer (instruction), or after eight worked examples (in-context). DIR then holds the
tables of evaluate umwp, and replies.csv.
"""


def add_study_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, prompt form and size arguments of ``study umwp`` to the parser."""
    add = parser.add_argument
    add("problems", type=Path, metavar="PROBLEMS", help="JSON Lines of problems")
    add(
        "--forms",
        type=_parse_forms,
        default=FORMS,
        metavar="FORM,FORM",
        help=f"of asking: {', '.join(FORMS)} (default: all)",
    )
    add("--first", type=build_minimum_type(1), metavar="N", help="ask the first N problems only")
    add(
        "--templates",
        type=Path,
        metavar="FILE",
        help="sentences that state that there is no answer, one a line, in place of the project's",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")


def _parse_forms(text: str) -> tuple[str, ...]:
    """Return the distinct prompt form names in a comma-separated argument.

    Raises `argparse.ArgumentTypeError` for an unknown form.
    """
    forms = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [form for form in forms if form not in FORMS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no form: {', '.join(FORMS)}")
    return forms


STUDY = Study(
    help="ask a model math problems, of which some have no answer, in three forms (UMWP)",
    description="Ask a model math word problems in three forms, and evaluate its replies.",
    epilog=STUDY_EPILOG,
    add_arguments=add_study_arguments,
    run="evaluation.umwp.commands.run_study",
)
