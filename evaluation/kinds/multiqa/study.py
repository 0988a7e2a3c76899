"""MultiQ&A asked and evaluated: ``manage.py study multiqa ITEMS --model SPEC --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.asking import Asking
from evaluation.files.multiqa.studying import MultiqaStudy, study_files
from evaluation.flow.multiqa.run_options import MultiqaRunOptions
from evaluation.kinds.kind import Progress, Studied, Study
from evaluation.kinds.multiqa.evaluate import add_columns, add_crowd, add_mapping, mapping_given
from evaluation.kinds.multiqa.terminal import report_of_study
from evaluation.words.console import at_least, number_from_zero

EPILOG = """\
Each question is reworded in one call (temperature 1.0, up to 2 more where too few are kept), every
wording is asked in a conversation of its own, and the replies are evaluated as evaluate multiqa
does. A rewording with other numbers or names, or of another meaning, is dropped and counted. ITEMS
is as for evaluate multiqa, with a question in every row.

Written into DIR: replies.csv, rewordings.csv, metrics.csv, items.csv, summary.json, and
requests.jsonl with every request. Several systems: a folder each.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the study takes beside its options and those of asking."""
    add = parser.add_argument
    add("items", type=Path, metavar="ITEMS", help="CSV, TSV, JSONL or XLSX, see below")
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")
    add_columns(parser)
    add_mapping(parser)
    add_crowd(parser)
    add(
        "--rewordings",
        type=at_least(0),
        default=5,
        metavar="N",
        help="of each question (%(default)s)",
    )
    add(
        "--variants",
        type=Path,
        metavar="FILE",
        help="wordings that were typed, dialects for instance, in place of a rewriter: item and "
        "variant_text, a row each",
    )
    add("--rewriter", metavar="SPEC", help="another model that rewords (default: --model)")
    add(
        "--rewriter-tokens",
        type=at_least(1),
        default=512,
        metavar="N",
        help="longest reply of the rewriter (%(default)s)",
    )
    add(
        "--rewriter-key-variable",
        metavar="NAME",
        help="environment variable with the rewriter's key (default: that of --key-variable)",
    )
    add(
        "--meaning",
        type=number_from_zero(1),
        default=0.8,
        metavar="X",
        help="least cosine of a rewording to its question, 0 for any (%(default)g)",
    )
    add(
        "--nli",
        metavar="NAME",
        help="a cross-encoder for entailment: question and rewording have to entail each other",
    )
    add(
        "--entailment",
        type=number_from_zero(1),
        default=0.5,
        metavar="X",
        help="with --nli: least probability, both ways (%(default)g)",
    )


def study(
    parameters: MultiqaRunOptions,
    arguments: Mapping[str, Any],
    asking: Asking,
    progress: Progress,
) -> Studied:
    """Reword, ask, evaluate, write the tables, and say what came out."""
    same = (
        "items",
        "output",
        "columns",
        "crowd",
        "rewordings",
        "variants",
        "rewriter",
        "rewriter_tokens",
    )
    more = ("rewriter_key_variable", "meaning", "nli", "entailment")
    request = MultiqaStudy(
        parameters=parameters.evaluation(),
        mapping=mapping_given(arguments),
        **{name: arguments[name] for name in (*same, *more)},
    )
    done = study_files(request, asking, progress)
    return Studied(report_of_study(done, request.output), done.complete)


STUDY = Study(
    help="reword questions, ask a model every wording, and evaluate its replies (MultiQ&A)",
    description="Ask a model questions in several wordings, and tell how robust its replies are.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=study,
)
