"""The options of the remedies, the same for files and for question sets in the database."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.flow.parameters import AqerParameters
from evaluation.texts.spelling import LANGUAGES
from evaluation.words.console import at_least


def add_remedy_arguments(parser: argparse.ArgumentParser, *, files: bool) -> None:
    """Add an option for each remedy; `files` says that anchors come in a file."""
    default = AqerParameters()
    group = parser.add_argument_group(
        "remedies",
        "Each is off unless asked for, and compared with the plain run in remedies.csv."
        if files
        else "Each is off unless asked for, and compared with the plain run.",
    )
    add = group.add_argument
    add(
        "--exclude-workers",
        type=Path,
        metavar="FILE",
        help="workers who do not vote and get no grade: an id on each line, or a table with the "
        "column worker" + ("" if files else "; the ids are the platform's own (public ids)"),
    )
    add(
        "--collapse-copies",
        action="store_true",
        help="let each group of workers who copy vote as one",
    )
    add(
        "--group-vote",
        type=share,
        metavar="X",
        default=default.group_vote,
        help="vote of such a group, beside 1 of a single worker (%(default)s)",
    )
    add("--weight-cap", type=share, metavar="X", help="no worker's voting weight above X")
    if files:
        add(
            "--anchors",
            type=Path,
            metavar="FILE",
            help="answers graded by an expert (worker, question, grade), which settle which camp "
            "is right where the crowd falls into camps",
        )
    else:
        add(
            "--anchors",
            action="store_true",
            help="let the experts' grades in the database settle which camp is right",
        )
    add(
        "--suggest-anchors",
        type=at_least(2),
        metavar="N",
        default=default.suggest_anchors,
        help="name N answers for an expert to grade; 6 to 8 are enough"
        + (" (written to anchors.csv)" if files else ""),
    )
    add(
        "--camps",
        action="store_true",
        help="where the answers to a question fall in two camps, score each against the nearest",
    )
    add("--unit-length", action="store_true", help="bring every vector to unit length first")
    add(
        "--spelling",
        nargs="?",
        const="en",
        choices=LANGUAGES,
        metavar="LANGUAGE",
        help="correct the spelling before embedding (en); needs the extra 'spelling'",
    )


def share(text: str) -> float:
    """Read a share above 0 and at most 1."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text} must be above 0 and at most 1")
    return number
