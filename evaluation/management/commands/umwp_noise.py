"""Command ``manage.py umwp_noise PROBLEMS --output DIR``: find contradictory labels."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evaluation.core.messages.console import (
    ProgressBars,
    exit_on_signal,
    format_table,
    print_report,
    report_bad_input,
)
from evaluation.umwp.files import NOISE_FILES, find_contradictions_in_file

MAX_SHOWN = 12


class Command(BaseCommand):
    """Find word problems whose labels contradict each other."""

    help = (
        "Find noise in the labels of UMWP: problems that are the same, or nearly, with other "
        "labels; no database. How often replies have unrelated content is measured by "
        "evaluate umwp --unrelated."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: problems, and the similarity threshold."""
        add = parser.add_argument
        add("problems", type=Path, metavar="PROBLEMS", help="JSON Lines of problems")
        add(
            "--similarity",
            type=_parse_share,
            default=0.9,
            metavar="X",
            help="share of the runs of three letters that two texts have in common, from which "
            "they are alike, above 0 to 1 (%(default)s)",
        )
        add("--output", type=Path, metavar="DIR", required=True, help="folder for the files")

    def handle(self, *args: Any, **options: Any) -> None:
        """Find the contradictory labels, write them to files, and print a summary."""
        output: Path = options["output"]
        with report_bad_input(), exit_on_signal(), ProgressBars():
            noise = find_contradictions_in_file(options["problems"], options["similarity"], output)
        noticed = [row for row in noise.rows if row.kind != "alike" or not row.partners]
        parts = [
            f"{noise.problems:,} problems; {len(noise.rows):,} pairs are alike and labelled "
            f"otherwise, {sum(row.partners for row in noise.rows):,} of them partners",
            format_table(("kind", "pairs"), list(noise.counts.items())),
            f"Without a partner: {len(noise.without_partner):,}; partner not in the file: "
            f"{len(noise.partners_missing):,}; partner without an answer, too: "
            f"{len(noise.partners_unanswerable):,}; a number though there is no answer: "
            f"{len(noise.gold_of_unanswerable):,}",
        ]
        if noticed:
            header = ("kind", "one", "label", "other", "label", "text")
            parts.append(
                format_table(
                    header,
                    [
                        (row.kind, row.one, row.one_label, row.other, row.other_label, row.one_text)
                        for row in noticed[:MAX_SHOWN]
                    ],
                )
            )
        parts.append(f"Written into {output}: {', '.join(NOISE_FILES)}")
        print_report(self.stdout, "\n\n".join(parts))


def _parse_share(text: str) -> float:
    """Return the share in an argument's text, above 0 and up to 1. Raises ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, up to 1")
    return number
