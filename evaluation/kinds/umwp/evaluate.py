"""UMWP over files: ``manage.py evaluate umwp PROBLEMS --replies FILE --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.files.umwp import UMWP_FILES, UmwpRequest, evaluate_umwp
from evaluation.flow.metrics import MetricRow
from evaluation.flow.umwp.people import people_metrics
from evaluation.flow.umwp.run_options import UmwpRunOptions
from evaluation.flow.umwp.sizes import SizeRow
from evaluation.flow.umwp.study import COUNTS, RATES, UmwpStudy
from evaluation.kinds.answer_files import WITHOUT_MODELS, add_columns, add_keep_thinking
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.kinds.umwp.pictures import size_chart
from evaluation.options import TERMINAL
from evaluation.words.console import text_table
from evaluation.words.reasons import in_words

EPILOG = """\
PROBLEMS are the JSON Lines of the data set: id, question, answer (a list of numbers, or null),
answerable, category (1 to 5, or null), relevant_ids, source.

The replies are CSV, TSV, JSON Lines or XLSX: system, id, form (direct, instruction,
in-context), reply and, if you like, status. Forms are never pooled.

--people are answers of people to the problems, as evaluate aqer reads them (worker, question,
answer): they stand in the tables as the system people. --labels are what annotators said of the
replies: system, id, form, annotator, label (yes: it says that there is no answer; no; cannot_tell).

SPEC is an embedder as in evaluate aqer, but no file of vectors; minilm by default.

Written into DIR: metrics.csv, items.csv, pairs.csv, ablation.csv, summary.json, and with the
options above people.csv and labels.csv; with --systems sizes.csv, size_trends.csv and
f1_by_size.svg. platform/docs/data-formats.md says what is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside the options."""
    add = parser.add_argument
    add("problems", type=Path, metavar="PROBLEMS", help="JSON Lines of problems")
    add("--replies", type=Path, metavar="FILE", required=True, help="what the systems replied")
    add_keep_thinking(parser)
    add(
        "--templates",
        type=Path,
        metavar="FILE",
        help="sentences that say that there is no answer, one a line, in place of the project's",
    )
    add("--labels", type=Path, metavar="FILE", help="what annotators said of the replies")
    add("--people", type=Path, metavar="FILE", help="what people answered to the problems")
    add_columns(parser, WITHOUT_MODELS)
    add(
        "--systems",
        type=Path,
        metavar="FILE",
        help="system, size (7B), tuning and family, for F1 by the size of the model",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


def evaluate(parameters: UmwpRunOptions, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Evaluate, write the tables, and say what came out and where it is."""
    request = UmwpRequest(
        arguments["problems"],
        arguments["replies"],
        arguments["templates"],
        parameters.evaluation(),
        arguments["output"],
        arguments["labels"],
        arguments["people"],
        arguments["columns"],
        arguments["systems"],
        arguments["keep_thinking"],
    )
    return report(evaluate_umwp(request, progress, _picture), request.output, request.written)


def _picture(rows: Sequence[SizeRow]) -> str:
    chart = size_chart(rows)
    return chart.standalone() if chart else ""


def report(study: UmwpStudy, output: Path, written: Sequence[str] = UMWP_FILES) -> str:
    """Return what came out, for a terminal."""
    found: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in (*study.metrics, *people_metrics(study)):
        key, _, form = row.group.partition(":")
        if key == "form":
            found.setdefault((row.system, form), {})[row.metric] = row
    names = (*RATES, *COUNTS)
    rows = [
        (*both, *(metrics[name].value for name in RATES),
         *(int(metrics[name].value or 0) for name in COUNTS))
        for both, metrics in found.items()
    ]  # fmt: skip
    parts = [text_table(("system", "form", *names), rows)]
    told = f"Threshold {study.threshold:.3f}"
    if study.tuned is not None and study.tuned.f1 is not None:
        told += f": F1 {study.tuned.f1:.3f} on {study.tuned.n} labelled replies"
    parts.append(f"{told}.")
    left_out = [
        f"  {one['count']:,}: {in_words(one['reason'])}" for one in study.exclusions.as_list()
    ]
    if left_out:
        parts.append("\n".join(["Not counted:", *left_out]))
    parts += [*study.notes, *TERMINAL.all_said(study.warnings())]
    parts.append(f"Written into {output}: {', '.join(written)}")
    return "\n\n".join(parts)


EVALUATE = Evaluation(
    help="tell whether models notice that a problem has no answer (UMWP)",
    description="Classify replies to math word problems, of which some have no answer.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
