"""Command ``manage.py new_wave SET``: create the next wave of a question set."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.answering.waves import WaveError, suggest_wave_name
from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import QuestionSet
from evaluation.waves import storage as waves


class Command(QuestionSetCommand):
    """Copy a question set as its next wave."""

    help = (
        "Make a further wave of the question set SET: its questions, texts and settings in a new "
        "set, a draft until it is published. Answers, runs, experts and viewers stay where they "
        "are. Prints the new set's name as the last line."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, name of the wave, and workers to ask."""
        super().add_arguments(parser)
        parser.add_argument("--name", help='of the new set (default: "SET, wave 2" and on)')
        parser.add_argument(
            "--people",
            choices=QuestionSet.WavePeople.values,
            default=QuestionSet.WavePeople.ANYBODY.value,
            help="same: only workers who submitted in SET; others: no participant of SET or of "
            "an earlier wave; anybody (default)",
        )
        parser.add_argument(
            "--with-models",
            action="store_true",
            help="take the replies of language models along, to be graded by the new crowd",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the wave and print what was copied; exit status 2 for invalid input."""
        question_set = self.find_question_set(options)
        name = suggest_wave_name(question_set) if options["name"] is None else options["name"]
        try:
            made = waves.create_wave(
                question_set, name, options["people"], with_models=options["with_models"]
            )
        except WaveError as error:
            raise CommandError(f"{question_set}: {error}", returncode=USAGE) from error
        version = made.question_set.latest_version()
        assert version is not None
        self.stdout.write(
            f"{version.questions.count():,} questions copied, for {options['people']}"
        )
        if options["with_models"]:
            self.stdout.write(f"{made.n_replies:,} replies of {made.n_models:,} models came along")
        self.stdout.write(made.question_set.name)
