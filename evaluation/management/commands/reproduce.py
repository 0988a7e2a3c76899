"""Command ``manage.py reproduce STUDY --data FOLDER --output DIR``: repeat a study.

``manage.py reproduce graded FILE --output DIR`` evaluates the user's own graded answers.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange.graded import NAMED, LabelGrades
from annotations.exchange.header import parse_column_names
from evaluation.core.messages.console import (
    BAD_INPUT,
    ProgressBars,
    build_minimum_type,
    exit_on_signal,
    format_table,
    print_report,
    report_bad_input,
)
from evaluation.evidence.studies.alarm_rates import reproduce_alarms
from evaluation.evidence.studies.attacks import reproduce_attacks
from evaluation.evidence.studies.false_alarms import reproduce_false_alarms
from evaluation.evidence.studies.graded_models import reproduce_graded_models
from evaluation.evidence.studies.minimal_pairs import reproduce_minimal_pairs
from evaluation.evidence.studies.model_scoring import reproduce_model_scoring
from evaluation.evidence.studies.pasted_answers import reproduce_pasted_answers
from evaluation.evidence.studies.planner import reproduce_forecasts, reproduce_planner
from evaluation.evidence.studies.real_crowds import reproduce_crowdwsa, reproduce_graded
from evaluation.evidence.studies.real_workers import reproduce_real_workers
from evaluation.evidence.studies.simulated_crowds import reproduce_remedies, reproduce_simulation
from evaluation.evidence.studies.worker_grading import reproduce_questions, reproduce_worker_grading
from evaluation.evidence.tables import EvidenceRequest, Study
from evaluation.runs.files.study import EndedEarlyError

CONTINUE = "Run the same command again: it continues and repeats no finished request."

STUDIES: dict[str, Study] = {
    "worker-grading": reproduce_worker_grading,
    "model-scoring": reproduce_model_scoring,
    "questions": reproduce_questions,
    "simulation": reproduce_simulation,
    "planner": reproduce_planner,
    "forecasts": reproduce_forecasts,
    "crowdwsa": reproduce_crowdwsa,
    "minimal-pairs": reproduce_minimal_pairs,
    "remedies": reproduce_remedies,
    "alarms": reproduce_alarms,
    "graded": reproduce_graded,
    "graded-models": reproduce_graded_models,
    "false-rings": reproduce_false_alarms,
    "real-workers": reproduce_real_workers,
    "attacks": reproduce_attacks,
    "pasted-answers": reproduce_pasted_answers,
}
# Studies of a file that the user gives, and not of the folder of public data sets.
OF_A_FILE = ("graded", "graded-models", "pasted-answers")
# Options that a study of models' answers needs beside its FILE.
NEEDED = {"graded-models": ("models", "judgements"), "pasted-answers": ("models",)}


class Command(BaseCommand):
    """Recompute a table of the evidence from public data or the user's own answers."""

    help = (
        "Reproduce a table of the evidence from public data, or make one of graded answers of "
        "your own (graded FILE), which shows the method to trust; needs no database."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: study, data folder and output folder."""
        add = parser.add_argument
        add("study", choices=list(STUDIES), help="which table")
        add(
            "file",
            type=Path,
            nargs="?",
            metavar="FILE",
            help="graded: answers with grades (question, answer, grade or label, worker "
            "if known), or a file, folder or archive in a layout of data-formats.md; "
            "graded-models, pasted-answers: workers' answers (worker, question, answer)",
        )
        add(
            "--labels",
            type=_parse_labels,
            default={},
            metavar="LABEL=VALUE,...",
            help="graded, pasted-answers: what labels are worth, such as "
            "correct=1,partial=.5,wrong=0",
        )
        add(
            "--columns",
            type=_parse_columns,
            default={},
            metavar="KEY=NAME,...",
            help="graded, pasted-answers: what columns are called; KEY is one of "
            f"{', '.join(NAMED)}",
        )
        add(
            "--models",
            type=Path,
            metavar="FILE",
            help="graded-models, pasted-answers: models' answers (model, question, answer); "
            "pasted-answers needs several samples of one model, as of ask --samples 10",
        )
        add(
            "--judgements",
            type=Path,
            metavar="FILE",
            help="graded-models: experts' grades of models' answers (model, question, grade and, "
            "if there are several, expert)",
        )
        add(
            "--data",
            type=Path,
            metavar="FOLDER",
            help="the folder that holds mohler2011/, crowdwsa2019/ and beetle2013/",
        )
        add("--output", type=Path, required=True, metavar="DIR", help="folder for the tables")
        add(
            "--embedder",
            default="minilm",
            metavar="SPEC",
            help="for the rows that do not name their own; see evaluate aqer --help (%(default)s)",
        )
        add(
            "--repetitions",
            type=build_minimum_type(1),
            default=25,
            metavar="N",
            help="simulated crowds, where a study has them (%(default)s)",
        )
        add(
            "--seed",
            type=build_minimum_type(0),
            default=0,
            metavar="N",
            help="repetition r uses seed 1000 + r + N (%(default)s)",
        )
        add(
            "--judge",
            metavar="MODEL",
            help="a language model that grades answers, openai:NAME@URL (its key is read from the "
            "environment variable OPENAI_API_KEY, where there is one) or local:smollm2",
        )
        add(
            "--nli",
            metavar="NAME",
            help="entailment model (name or folder, see train_entailment), for the rows of it",
        )
        add(
            "--likelihood",
            metavar="MODEL",
            help="real-workers: a language model that gives log-probabilities of forced replies: "
            "local:smollm2 or openai:NAME@URL of a llama.cpp server (key as for --judge)",
        )
        add(
            "--likelihood-questions",
            type=build_minimum_type(1),
            default=10,
            metavar="N",
            help="real-workers: questions that it reads, drawn by the seed (%(default)s)",
        )
        add("--core", action="store_true", help="only the rows that are quick to compute")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the study, and write and print its table."""
        _check_study_options(options)
        names = ("data", "output", "embedder", "judge", "nli", "repetitions", "seed", "core")
        more = ("file", "labels", "columns", "models", "judgements")
        likelihood = ("likelihood", "likelihood_questions")
        values = {name: options[name] for name in (*names, *more, *likelihood)}
        request = EvidenceRequest(**values | {"data": options["data"] or Path()})
        try:
            with report_bad_input(), exit_on_signal(), ProgressBars() as bars:
                table = STUDIES[options["study"]](request, bars.show)
        except EndedEarlyError as error:
            raise CommandError(f"{error}. {CONTINUE}") from error
        lines = [format_table(table.header, table.rows), table.said, f"Tables: {request.output}"]
        print_report(self.stdout, "\n\n".join(part for part in lines if part))


def _check_study_options(options: Mapping[str, Any]) -> None:
    """Raise CommandError if an option that the study needs is missing, or has no effect on it."""
    study = options["study"]
    if options["likelihood"] is not None and study != "real-workers":
        raise CommandError(f"{study} takes no --likelihood", returncode=BAD_INPUT)
    of_models = {name for name in ("models", "judgements") if options[name] is not None}
    needed = NEEDED.get(study, ())
    if needed and (options["file"] is None or of_models != set(needed)):
        reason = f"{study} takes a FILE of workers' answers, {_join_flags(needed)}"
        raise CommandError(reason, returncode=BAD_INPUT)
    if needed:
        return
    if of_models:
        raise CommandError(f"{study} takes no --models or --judgements", returncode=BAD_INPUT)
    if study in OF_A_FILE:
        if options["file"] is None:
            raise CommandError(f"{study} takes a FILE of graded answers", returncode=BAD_INPUT)
    elif options["file"] is not None or options["labels"] or options["columns"]:
        reason = f"{study} takes no FILE, --labels or --columns: it is made of public data sets"
        raise CommandError(reason, returncode=BAD_INPUT)
    elif options["data"] is None:
        raise CommandError(f"{study} needs --data FOLDER", returncode=BAD_INPUT)


def _join_flags(names: Sequence[str]) -> str:
    """Return the flags of the named options, joined by "and"."""
    return " and ".join(f"--{name}" for name in names)


def _parse_labels(text: str) -> Mapping[str, float]:
    """Return the value of each label in an argument's text. Raises ArgumentTypeError."""
    try:
        return LabelGrades.parse(text).values
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _parse_columns(text: str) -> Mapping[str, str]:
    """Return the column name of each key in an argument's text. Raises ArgumentTypeError."""
    try:
        return parse_column_names(text, NAMED)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
