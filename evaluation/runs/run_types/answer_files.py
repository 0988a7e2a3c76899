"""Add the command-line arguments on files of answers that several run types share."""

from __future__ import annotations

import argparse
from pathlib import Path

from annotations.exchange import ColumnNames
from annotations.exchange.markup import add_keep_html_argument
from annotations.exchange.model_replies import KEEP_THINKING
from annotations.exchange.reading.duplicates import add_duplicates_arguments
from annotations.exchange.whole_ids import add_keep_ids_argument

WITH_MODELS = "worker=NAME,question=NAME,answer=NAME,model=NAME"
WITHOUT_MODELS = "worker=NAME,question=NAME,answer=NAME"


def add_answers_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the file of workers' answers and how its rows are read."""
    parser.add_argument(
        "answers",
        type=Path,
        metavar="ANSWERS",
        help="CSV, TSV, JSONL or XLSX with the columns worker, question and answer",
    )
    add_duplicates_arguments(parser)
    add_keep_as_typed_arguments(parser)


def add_keep_as_typed_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the switches that keep HTML in workers' answers and ids such as 101.0 as typed."""
    add_keep_html_argument(parser)
    add_keep_ids_argument(parser)


def add_models_argument(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the argument for the file of models' answers."""
    parser.add_argument(
        "--models",
        type=Path,
        metavar="FILE",
        required=required,
        help="answers of language models: model, question, answer and, if you like, status",
    )


def add_keep_thinking_argument(parser: argparse.ArgumentParser) -> None:
    """Add the switch that keeps models' thinking as part of their answers."""
    parser.add_argument(
        KEEP_THINKING,
        action="store_true",
        help="read replies of models as they are, their thinking too; else it is put aside",
    )


def add_output_argument(parser: argparse.ArgumentParser, contents: str = "files") -> None:
    """Add the argument for the output folder; `contents` names what is written."""
    parser.add_argument(
        "--output", type=Path, metavar="DIR", required=True, help=f"folder for the {contents}"
    )


def add_columns_argument(parser: argparse.ArgumentParser, names: str = WITH_MODELS) -> None:
    """Add the argument for column names that differ from the standard names."""
    parser.add_argument(
        "--columns",
        type=parse_column_names,
        default=ColumnNames(),
        metavar=names,
        help="how the columns are called in your files, where they are called otherwise",
    )


def parse_column_names(text: str) -> ColumnNames:
    """Return the column names in an argument's text. Raises ArgumentTypeError."""
    try:
        return ColumnNames.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
