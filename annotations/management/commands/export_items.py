"""Command that exports accepted unanswerable problems in UMWP format (export_items)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations import writing
from annotations.exchange import InputError, OutputFolder
from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import WritingProject

VOTES = ("problem", "revision", "validator", "answerable", "category", "note", "time")


class Command(QuestionSetCommand):
    """Export accepted problems with their originals in UMWP format, and optionally the votes."""

    help = (
        "Write the problems without an answer that people wrote for the question set SET and that "
        "were accepted, with the questions they were made of, as JSON Lines of UMWP: evaluate and "
        "study umwp read them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set, output file, file for the validators' votes."""
        super().add_arguments(parser)
        parser.add_argument("--output", type=Path, required=True, metavar="FILE.jsonl")
        parser.add_argument(
            "--votes",
            type=Path,
            metavar="FILE.csv",
            help="write each validator's vote on each problem to this file too",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files and print the numbers of problems and of original questions."""
        question_set = self.find_question_set(options)
        project = WritingProject.objects.filter(version__question_set=question_set)
        newest = project.order_by("-version__number").first()
        if newest is None:
            raise CommandError(
                f"there is no writing of problems for {question_set}", returncode=USAGE
            )
        output, votes = options["output"], options["votes"]
        if output.suffix != ".jsonl":
            reason = f"{output}: problems are written as JSON Lines. Use .jsonl."
            raise CommandError(reason, returncode=USAGE)
        records = list(writing.export_accepted_problems(newest))
        try:
            with OutputFolder(output.parent) as folder:
                lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
                folder.write_lines(output.name, lines)
            if votes is not None:
                with OutputFolder(votes.parent) as folder:
                    folder.write_csv(votes.name, VOTES, _iterate_votes(newest))
        except InputError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        n = sum(not record["answerable"] for record in records)
        made_of = len(records) - n
        self.stdout.write(
            f"{n:,} accepted problems and {made_of:,} questions they were made of: {output}"
        )


def _iterate_votes(project: WritingProject) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the file of votes (columns: `VOTES`), one for each vote on a problem."""
    problems = project.problems.select_related("original")
    for problem in problems.order_by("original__position", "number"):
        votes = problem.votes.select_related("validator").order_by("revision", "pk")
        for vote in votes:
            yield (
                problem.external_id,
                vote.revision,
                vote.validator.get_username(),
                vote.answerable,
                vote.category,
                vote.note,
                vote.updated_at.isoformat(timespec="seconds"),
            )
