"""Command ``manage.py recruit SET --at-least X --output FILE``: list the best workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.writing.formats import write_chunks, write_lines
from annotations.management.desk import DecisionCommand
from annotations.management.importing import USAGE
from annotations.models import QuestionSet
from annotations.panels.client import NotDoneError, PanelClient, UnsureError
from annotations.panels.groups import RequestedBeforeError, create_panel_group
from annotations.panels.prolific import UNVERIFIED, Prolific
from evaluation.payments.storage.invitations import (
    ENDS,
    InvitedWorkers,
    ScoreThreshold,
    select_invited_workers,
)
from evaluation.payments.storage.rules import SCORE, RuleError
from evaluation.runs.raw_scores import RAW, SCORES

LONGEST_NAME = 200


class Command(DecisionCommand):
    """Write the ids of workers above a score threshold, as the next study's allow list."""

    help = (
        "Write the panel's ids of workers of the question set SET with a score of at least X, "
        "one a line, as a panel's custom allow list takes them: the raw leave-one-out score (or "
        "the "
        "question contrast) of the official run, or the lower end of its 95% interval. "
        "Only workers who submitted, did not withdraw and are not rejected; the others are "
        "counted with the reason."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, threshold and output."""
        super().add_arguments(parser)
        parser.add_argument(
            "--at-least", type=float, required=True, metavar="X", help="the least score"
        )
        parser.add_argument(
            "--end",
            choices=tuple(ENDS),
            default=SCORE,
            help="what has to reach it, the score (default) or its interval's lower end",
        )
        parser.add_argument(
            "--score",
            choices=tuple(SCORES),
            default=RAW,
            help="compare people by raw score (default) or question contrast",
        )
        parser.add_argument(
            "--panel",
            default="",
            metavar="NAME",
            help="whose ids (default: that of the collecting, or the only one)",
        )
        parser.add_argument("--output", type=Path, metavar="FILE", help="write the ids")
        parser.add_argument("--count", action="store_true", help="count only, write nothing")
        group = parser.add_argument_group("a participant group on Prolific")
        group.add_argument("--group", metavar="NAME", help="count who would be in this new group")
        group.add_argument("--workspace", metavar="ID", help="the workspace there to make it in")
        group.add_argument(
            "--send",
            action="store_true",
            help="make it by Prolific's own interface, where that is switched on",
        )
        group.add_argument("--by", metavar="USERNAME", help="who makes it: may change the set")

    def handle(self, *args: Any, **options: Any) -> None:
        """Select the workers to invite again; write their ids or create a panel group of them."""
        if not (options["output"] or options["group"] is not None or options["count"]):
            raise CommandError(
                "name the file of the ids with --output FILE, or use --count", returncode=USAGE
            )
        version = self.find_version(options)
        user = self.find_decider(options, version) if options["by"] is not None else None
        # Before anything is written, so that a command that cannot send leaves no file behind.
        client = self._build_panel_client(options)
        try:
            line = ScoreThreshold(
                *(options["at_least"], options["end"], options["panel"]), score=options["score"]
            )
            invited = select_invited_workers(version, line)
        except RuleError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        for told in invited.lines():
            self.stdout.write(told)
        if not invited.ids:
            raise CommandError("no worker is left to invite again", returncode=USAGE)
        if options["count"]:
            self.stdout.write("Nothing was written.")
            return
        if options["group"] is not None and invited.panel.casefold() not in ("", "prolific"):
            raise CommandError(
                f"these are ids of {invited.panel}, not of Prolific: nothing was written or sent",
                returncode=USAGE,
            )
        if options["output"]:
            try:
                write_chunks(options["output"], write_lines(invited.ids))
            except InputError as error:
                raise CommandError(str(error), returncode=USAGE) from error
            self.stdout.write(f"written to {options['output']}")
        if options["group"] is not None:
            self._create_group(version.question_set, invited, client, user, options)

    def _build_panel_client(self, options: dict[str, Any]) -> PanelClient | None:
        """Return the client that creates the panel group; None on a dry run or without a group."""
        if options["group"] is None:
            if options["send"]:
                raise CommandError("name the group with --group NAME", returncode=USAGE)
            return None
        if not 0 < len(options["group"].strip()) <= LONGEST_NAME:
            raise CommandError(
                f"a group's name has 1 to {LONGEST_NAME} characters", returncode=USAGE
            )
        missing = [name for name in ("by", "workspace") if options[name] is None]
        if options["send"] and missing:
            raise CommandError(
                f"to make a group, also use --{' and --'.join(missing)}", returncode=USAGE
            )
        try:
            return Prolific() if options["send"] and not options["count"] else None
        except NotDoneError as error:
            raise CommandError(str(error), returncode=USAGE) from error

    def _create_group(
        self,
        question_set: QuestionSet,
        invited: InvitedWorkers,
        client: PanelClient | None,
        user: AbstractBaseUser | None,
        options: dict[str, Any],
    ) -> None:
        """Create a panel group of the selected workers; without a client only print its size."""
        name = options["group"].strip()
        self.stderr.write(UNVERIFIED)
        if client is None:
            self.stdout.write(
                f"the group {name} would have {len(invited.ids):,} people. No group was made. To "
                "make it, add --send"
            )
            return
        try:
            key = create_panel_group(
                question_set, user, client, options["workspace"], name, invited.ids
            )
        except (RequestedBeforeError, NotDoneError) as error:
            raise CommandError(f"no group was made: {error}", returncode=USAGE) from error
        except UnsureError as error:
            raise CommandError(
                f"whether the group was made is not known: {error}. Under this name it is not "
                "asked for again: look on the panel, and take another name if it is not there"
            ) from error
        self.stdout.write(f"the group {name} ({key}) was made of {len(invited.ids):,} people")
