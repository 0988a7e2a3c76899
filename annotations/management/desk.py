"""Base class and options of the commands about decisions and payments."""

from __future__ import annotations

import argparse
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import CommandError, CommandParser

from annotations.ledger.bonuses import ROUND, validate_bonus_round
from annotations.ledger.decisions import find_answered_version, may_decide
from annotations.ledger.errors import RoundError
from annotations.management.importing import USAGE, QuestionSetCommand
from annotations.models import QuestionSet, QuestionSetVersion


class DecisionCommand(QuestionSetCommand):
    """Base class of commands on the decisions about workers of one version."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of these commands: SET, --owner and --in-version."""
        super().add_arguments(parser)
        parser.add_argument(
            "--in-version",
            type=int,
            metavar="N",
            help="another than the newest with participants",
        )

    def add_by_argument(self, parser: CommandParser) -> None:
        """Add the required option --by, the user to be recorded in the log."""
        parser.add_argument(
            "--by", required=True, metavar="USERNAME", help="the user who decides, for the log"
        )

    def find_version(self, options: dict[str, Any]) -> QuestionSetVersion:
        """Return the version that the options name; CommandError (2) if there is none."""
        question_set = self.find_question_set(options)
        number = options["in_version"]
        answered_version = find_answered_version(question_set, number)
        if answered_version is None:
            what = "is empty" if number is None else f"has no version {number}"
            raise CommandError(f"{question_set} {what}", returncode=USAGE)
        return answered_version

    def find_decider(
        self, options: dict[str, Any], version: QuestionSetVersion
    ) -> AbstractBaseUser:
        """Return the user named by --by; CommandError (2) if unknown or not permitted to decide."""
        user = self._find_user(options["by"])
        is_owner = user.pk == version.question_set.owner_id
        if not (is_owner or may_decide(user, version)):
            raise CommandError(
                f"{user.get_username()} may not decide about the people of "
                f"{version.question_set}: only who may change the set may",
                returncode=USAGE,
            )
        return user

    def find_question_set(self, options: dict[str, Any], *, create: bool = False) -> QuestionSet:
        """Return the question set; without --owner, first look among those of the --by user."""
        if options["owner"] is None and options.get("by"):
            mine = QuestionSet.objects.editable_by(self._find_user(options["by"]))
            matches = list(mine.filter(name=options["question_set"].strip())[:2])
            if len(matches) == 1:
                return matches[0]
        return super().find_question_set(options, create=create)

    def _find_user(self, username: str) -> AbstractBaseUser:
        """Return the active user with this name; CommandError (2) if there is none."""
        user = get_user_model().objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"there is no user {username!r}", returncode=USAGE)
        return user


def add_round_argument(parser: argparse.ArgumentParser, default: str | None = ROUND) -> None:
    """Add the option --round, the name of a bonus round: a worker has one bonus in each."""
    parser.add_argument(
        "--round",
        type=_parse_round_name,
        default=default,
        metavar="NAME",
        help="what bonuses are paid for; of a round everybody has one"
        + (f" (default: {default})" if default else " (default: all rounds)"),
    )


def add_study_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option --study, the panel's id of a study."""
    parser.add_argument(
        "--study",
        default="",
        metavar="ID",
        help="the panel's id of the study (default: that from which people came)",
    )


def _parse_round_name(text: str) -> str:
    """Return the validated name of a bonus round; ArgumentTypeError if it is invalid."""
    try:
        return validate_bonus_round(text)
    except RoundError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
