"""Command ``manage.py umwp_templates [REPLIES] --output DIR``: mine templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotations.exchange import InputError
from evaluation.core.messages.console import (
    ProgressBars,
    exit_on_signal,
    format_table,
    print_report,
    report_bad_input,
)
from evaluation.core.messages.reasons import describe_reason
from evaluation.management.option_arguments import add_option_arguments, read_options
from evaluation.umwp.files import MINING_FILES, MiningRequest, mine_templates
from evaluation.umwp.options import MiningParameters
from evaluation.umwp.run.mining import MiningResult

MAX_SHOWN = 20
# Mining reads replies by the fixed rules, and draws nothing but the halves.
UNUSED = ("rules", "bootstrap")


class Command(BaseCommand):
    """Mine templates: wordings that occur only in replies without an answer."""

    help = "Mine templates of UMWP out of labelled replies; half of them measure what was found."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: replies, source of labels, and mining options."""
        add = parser.add_argument
        add(
            "replies",
            type=Path,
            nargs="?",
            metavar="REPLIES",
            help="CSV, TSV, JSON Lines or XLSX with reply, label (unanswerable or answerable) and, "
            "if you like, id; without it the labelled replies of the project",
        )
        add(
            "--problems",
            type=Path,
            metavar="PROBLEMS",
            help="REPLIES are those of evaluate umwp to these problems, whose labels they get: "
            "a reply to a problem without an answer counts as one that states this",
        )
        add(
            "--templates",
            type=Path,
            metavar="FILE",
            help="sentences that are templates already, one a line, in place of the project's",
        )
        add("--output", type=Path, metavar="DIR", required=True, help="folder for the files")
        add_option_arguments(parser, MiningParameters, files=True, without=UNUSED)

    def handle(self, *args: Any, **options: Any) -> None:
        """Mine the templates, and print the result and the output paths."""
        with report_bad_input(), exit_on_signal(), ProgressBars() as bars:
            if options["problems"] is not None and options["replies"] is None:
                raise InputError.single(
                    str(options["problems"]),
                    "problems are given without replies to them",
                    "Name the file of replies first.",
                )
            request = MiningRequest(
                options["replies"],
                options["problems"],
                options["templates"],
                read_options(MiningParameters, options, files=True),
                options["output"],
            )
            mined = mine_templates(request, bars.show)
        print_report(self.stdout, _format_mining_result(mined, request.output))


def _format_mining_result(mined: MiningResult, output: Path) -> str:
    """Return the mined templates with their rates as text, and the output folder."""
    header = ("candidate", "mined", "wrong", "adds", "kept", "wrong", "precision", "new", "reason")
    rows = [
        (
            *(row.template, row.found, row.wrong, row.gain),
            *(row.kept_found, row.kept_wrong, row.kept_precision, row.kept_new),
            describe_reason(row.reason),
        )
        for row in mined.candidates[:MAX_SHOWN]
    ]
    (good, other), (kept, kept_other) = mined.mined, mined.kept
    lines = [
        f"{good:,} replies without an answer and {other:,} others mined: {mined.patterns:,} "
        f"wordings tested, {len(mined.candidates):,} candidates, {len(mined.chosen):,} chosen.",
    ]
    if rows:
        lines.append(format_table(header, rows))
    if len(mined.candidates) > MAX_SHOWN:
        lines.append(f"And {len(mined.candidates) - MAX_SHOWN:,} more.")
    before, after = mined.before, mined.after
    lines += [
        f"Kept aside: {kept:,} replies without an answer and {kept_other:,} others.",
        format_table(
            ("templates", "precision", "recall", "f1"),
            [
                (f"the {len(mined.templates)} there are", *_list_template_rates(before)),
                (f"with {len(mined.chosen)} more", *_list_template_rates(after)),
            ],
        ),
        f"Written into {output}: {', '.join(MINING_FILES)}",
    ]
    return "\n\n".join(lines)


def _list_template_rates(rates: Any) -> tuple[float | None, ...]:
    """Return the precision, recall and F1 of a set of templates, in this order."""
    return rates.precision, rates.recall, rates.f1
