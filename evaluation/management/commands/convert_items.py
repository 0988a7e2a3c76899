"""Command ``manage.py convert_items FILE --mapping squad2``: convert published data sets."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotations.exchange import OutputFolder
from evaluation.core.messages.console import build_minimum_type, print_report, report_bad_input
from evaluation.multiqa.files.field_mapping import READY, load_mapping
from evaluation.multiqa.files.mapping import convert_items_to_json, read_mapped_items
from evaluation.runs.files.problem_messages import build_error


class Command(BaseCommand):
    """Convert records of a published data set to items."""

    help = "Make items for evaluate and study multiqa of a benchmark's own file; no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: file, mapping and output."""
        add = parser.add_argument
        add("file", type=Path, metavar="FILE", help="JSON, JSON Lines, CSV or TSV")
        add(
            "--mapping",
            required=True,
            metavar="NAME|FILE.json",
            help=f"{', '.join(READY)}, or a mapping of your own",
        )
        add("--output", type=Path, required=True, metavar="ITEMS.jsonl", help="file to write")
        add(
            "--first",
            type=build_minimum_type(1),
            metavar="N",
            help="take no more than the first N records",
        )
        add("--sample", type=build_minimum_type(1), metavar="N", help="draw N of the items")
        add(
            "--seed",
            type=build_minimum_type(0),
            default=0,
            metavar="N",
            help="of the draw (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the records, write the items, and print their number."""
        output: Path = options["output"]
        with report_bad_input():
            if output.suffix != ".jsonl":
                raise build_error(str(output), "items_not_jsonl")
            items = read_mapped_items(
                options["file"], load_mapping(options["mapping"]), options["first"]
            )
            chosen = [item for item in items.items if item.answers]
            n_without = len(items.items) - len(chosen)
            if options["sample"] is not None and options["sample"] < len(chosen):
                drawn = random.Random(options["seed"]).sample(  # noqa: S311
                    range(len(chosen)), options["sample"]
                )
                # In the order of the file, not of the draw.
                chosen = [chosen[index] for index in sorted(drawn)]
            lines = (
                json.dumps(one, ensure_ascii=False) + "\n" for one in convert_items_to_json(chosen)
            )
            with OutputFolder(output.parent) as folder:
                folder.write_lines(output.name, lines)
        left = f"; {n_without:,} without an accepted answer left out" if n_without else ""
        print_report(self.stdout, f"{len(chosen):,} items{left}: {output}")
        for warning in items.warnings:
            print_report(self.stdout, f"Warning: {warning}")
