"""Command ``manage.py sample_problems PROBLEMS --size N``: sample word problems."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotations.exchange import InputError, OutputFolder
from annotations.exchange.reading.word_problems import convert_to_umwp, read_word_problems
from evaluation.core.messages.console import build_minimum_type, print_report, report_bad_input
from evaluation.umwp.problems import draw_problem_sample


class Command(BaseCommand):
    """Draw a sample of word problems for workers to answer."""

    help = (
        "Draw a sample of word problems by category and source, a problem and those made of it "
        "together: for a benchmark of people; no database."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: problems, sample size and output."""
        add = parser.add_argument
        add("problems", type=Path, metavar="PROBLEMS", help="JSON Lines of UMWP, or one JSON list")
        add(
            "--size",
            type=build_minimum_type(1),
            required=True,
            metavar="N",
            help="problems to draw",
        )
        add(
            "--seed",
            type=build_minimum_type(0),
            default=0,
            metavar="N",
            help="of the draw (%(default)s)",
        )
        add("--output", type=Path, required=True, metavar="SAMPLE.jsonl", help="file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the problems, draw and write the sample, and print its composition."""
        output: Path = options["output"]
        with report_bad_input():
            if output.suffix != ".jsonl":
                raise InputError.single(
                    str(output), "problems are written as JSON Lines", "Use .jsonl."
                )
            if output.exists() and output.samefile(options["problems"]):
                raise InputError.single(
                    str(output), "the sample would replace the problems", "Choose another name."
                )
            problems = read_word_problems(options["problems"]).problems
            drawn = draw_problem_sample(problems, options["size"], options["seed"])
            lines = (
                json.dumps(convert_to_umwp(problem), ensure_ascii=False) + "\n" for problem in drawn
            )
            with OutputFolder(output.parent) as folder:
                folder.write_lines(output.name, lines)
        categories = Counter(problem.category for problem in drawn if problem.category is not None)
        listing = ", ".join(f"{number}: {categories[number]}" for number in sorted(categories))
        n = sum(problem.answerable is True for problem in drawn)
        print_report(
            self.stdout,
            f"{len(drawn):,} of {len(problems):,} problems, {n:,} with an answer"
            f"{f'; by category {listing}' if listing else ''}: {output}",
        )
