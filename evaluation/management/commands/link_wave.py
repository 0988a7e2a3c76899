"""Command ``manage.py link_wave SET --earlier OTHER``: link sets as waves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.answering.waves import QuestionMatch, WaveError, remove_wave_link
from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import QuestionSet
from evaluation.waves import storage as waves

IDS_SHOWN = 10


class Command(QuestionSetCommand):
    """Link a question set to its earlier wave, or remove the link."""

    help = (
        "Mark the question set SET as a later wave of OTHER, a set of the same owner, so that "
        "their results can be compared. Questions are matched by their ids. Nothing else of either "
        "set is changed, and --undo removes the link. With --with-models alone the replies of "
        "language models in the earlier wave are copied into a linked set."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, earlier set, and whether to copy model replies."""
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--earlier", metavar="OTHER", help="name or id of the wave before")
        which.add_argument("--undo", action="store_true", help="remove the link")
        parser.add_argument(
            "--with-models",
            action="store_true",
            help="copy the replies of language models to questions of the same text, to be graded "
            "by the later crowd; those that are there stay",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Link, unlink or copy, and print what was done; exit status 2 for invalid input."""
        question_set = self.find_question_set(options)
        if options["undo"] and options["with_models"]:
            raise CommandError(
                "--undo copies no replies: leave out --with-models", returncode=USAGE
            )
        if not (options["undo"] or options["earlier"] or options["with_models"]):
            raise CommandError(
                "name the earlier wave with --earlier OTHER, or use --undo", returncode=USAGE
            )
        try:
            if options["undo"]:
                self.stdout.write(
                    f"{question_set} is no later wave of {remove_wave_link(question_set)} now"
                )
                return
            if options["earlier"]:
                self._link_sets(question_set, options)
            else:
                self._print_copied_replies(waves.copy_replies(question_set))
        except WaveError as error:
            raise CommandError(f"{question_set}: {error}", returncode=USAGE) from error

    def _link_sets(self, question_set: QuestionSet, options: dict[str, Any]) -> None:
        """Link the set to the earlier one, copy replies if requested, and print the match."""
        # Waves have one owner, so the earlier set is looked up among that owner's sets.
        owner = question_set.owner.get_username()
        earlier = self.find_question_set(
            {**options, "question_set": options["earlier"], "owner": owner}
        )
        match, replies = waves.link_and_copy_replies(
            question_set, earlier, with_models=options["with_models"]
        )
        for line in format_question_match(match):
            self.stdout.write(line)
        if options["with_models"]:
            self._print_copied_replies(replies)
        self.stdout.write(f"{question_set} is a later wave of {earlier} now")

    def _print_copied_replies(self, replies: waves.CopyCounts) -> None:
        """Print how many model replies were copied, and how many existed already."""
        self.stdout.write(
            f"{replies.n_replies:,} replies of {replies.n_models:,} models copied, "
            f"{replies.n_there:,} were there"
        )


def format_question_match(match: QuestionMatch) -> list[str]:
    """Return lines on how the questions of two waves match: counts, and ids that differ."""
    lines = [
        (match.other_text, "with another text"),
        (match.only_later, "in the later set only"),
        (match.only_earlier, "in the earlier set only"),
    ]
    counts = f"{match.n_common:,} questions in common by id, {len(match.same):,} with the same text"
    return [counts, *(f"{len(ids):,} {what}: {_join_ids(ids)}" for ids, what in lines if ids)]


def _join_ids(ids: Sequence[str]) -> str:
    """Return the first ids joined by commas, and the number of the others."""
    listing = ", ".join(ids[:IDS_SHOWN])
    return f"{listing} and {len(ids) - IDS_SHOWN:,} more" if len(ids) > IDS_SHOWN else listing
