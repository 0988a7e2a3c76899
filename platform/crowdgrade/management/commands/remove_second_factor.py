"""Command that removes a second factor whose device and recovery codes are lost."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

USAGE = 2


class Command(BaseCommand):
    """Remove the second factor of a user."""

    help = (
        "Remove the lost second factor of USERNAME, with the recovery codes, and end the user's "
        "sessions. Where REQUIRE_SECOND_FACTOR demands one, the next sign-in sets up another."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the argument for the user's name."""
        parser.add_argument("username", metavar="USERNAME")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command; exit status 2 for an unknown user, or one without a second factor."""
        from crowdgrade.sign_in.journal import Event, log_sign_in_event
        from crowdgrade.sign_in.second_factor import remove_second_factor

        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"there is no user {options['username']!r}", returncode=USAGE)
        if not remove_second_factor(user):
            raise CommandError(f"{user.username} has no second factor", returncode=USAGE)
        log_sign_in_event(Event.FACTOR_REMOVED, user, "command line", None)
        self.stdout.write(f"{user.username} signs in without a second factor.")
