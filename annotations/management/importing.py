"""Base classes of commands on one question set, and of the import commands."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from annotations.exchange import InputError
from annotations.exchange.importing import ImportReport
from annotations.models import QuestionSet

USAGE = 2
"""Exit status after bad usage or bad input."""

LONGEST_NAME = 200
"""Characters that the name of a question set may have."""

SET_ERRORS = {
    "set_name_length": "a question set's name has 1 to {most} characters",
    "set_unknown": "{owner} has no question set {name!r}; there is: {names}",
    "user_unknown": "there is no user {username!r} (`manage.py createsuperuser` makes one)",
    "users_missing": "there is no user yet (`manage.py createsuperuser` makes one)",
    "users_several": "there are several users: name the set's owner with --owner USERNAME",
}
"""The sentence of each code of a `QuestionSetError`."""


class QuestionSetError(CommandError):
    """Error: the question set or its owner is unknown or invalid.

    `code` is a key of `SET_ERRORS`.
    """

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(SET_ERRORS[code].format_map(values), returncode=USAGE)
        self.code, self.values = code, values


class QuestionSetCommand(BaseCommand):
    """Base class of commands on one question set, which is given by its name or id."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments SET (question set) and --owner."""
        parser.add_argument("question_set", metavar="SET", help="name or id of the question set")
        parser.add_argument(
            "--owner",
            metavar="USERNAME",
            help="whose question set it is (may be left out while there is only one user)",
        )

    def find_question_set(self, options: dict[str, Any], *, create: bool = False) -> QuestionSet:
        """Return the question set that SET and --owner name; with `create`, an unsaved one if none.

        A name is looked for first; the public id names a set too, whoever owns it.
        """
        name = options["question_set"].strip()
        by_id = _find_set_by_id(name)
        if by_id is not None and options["owner"] is None:
            return by_id
        owner = self._find_owner(options["owner"])
        existing = QuestionSet.objects.filter(owner=owner.pk, name=name).first()
        if existing is None and by_id is not None and by_id.owner_id == owner.pk:
            existing = by_id
        if existing is not None:
            return existing
        if not create:
            theirs = QuestionSet.objects.filter(owner=owner.pk).order_by("name")
            names = ", ".join(theirs.values_list("name", flat=True))
            values = {"owner": owner.get_username(), "name": name, "names": names or "none"}
            raise QuestionSetError("set_unknown", **values)
        if not name or len(name) > LONGEST_NAME:
            raise QuestionSetError("set_name_length", most=LONGEST_NAME)
        return QuestionSet(owner_id=owner.pk, name=name)

    def _find_owner(self, username: str | None) -> AbstractBaseUser:
        """Return the user named by --owner, or the only user; QuestionSetError if it is unclear."""
        users = get_user_model().objects.filter(is_active=True)
        if username is not None:
            users = users.filter(username=username)
        owners = list(users[:2])
        if len(owners) == 1:
            return owners[0]
        if username is not None:
            raise QuestionSetError("user_unknown", username=username)
        raise QuestionSetError("users_several" if owners else "users_missing")


def _find_set_by_id(text: str) -> QuestionSet | None:
    """Return the question set with this public id; None if there is none."""
    try:
        return QuestionSet.objects.filter(public_id=UUID(text)).first()
    except ValueError:
        return None


class ImportCommand(QuestionSetCommand):
    """Base class of import commands: it runs the import and prints its reports."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of every import command: SET, --owner, --dry-run."""
        super().add_arguments(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="do everything, report it, and store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the import and print its reports; CommandError (2) for invalid input."""
        try:
            reports = self.run_import(options)
        except InputError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        except OperationalError as error:
            # Such as another import that holds SQLite for longer than the timeout.
            raise CommandError(
                f"the database could not be used: {error}. Nothing was stored; try again."
            ) from error
        for report in reports:
            for line in report.lines():
                self.stdout.write(line)

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Run the import and return its reports; each command implements it."""
        raise NotImplementedError


def parse_columns_option(parse: Any, text: str | None) -> dict[str, Any]:
    """Return {"columns": value of --columns parsed by `parse`}; {} without the option."""
    if text is None:
        return {}
    try:
        return {"columns": parse(text)}
    except ValueError as error:
        raise CommandError(f"--columns: {error}", returncode=USAGE) from error
