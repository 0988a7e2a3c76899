"""Command that creates, lists and revokes API tokens, for operators."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction

from crowdgrade.models.tokens import MAX_DAYS, create_token, select_tokens

USAGE = 2


class Command(BaseCommand):
    """Create, list or revoke the API tokens of a user."""

    help = (
        "Make an API token for USERNAME and print it; only its hash is stored, so this is the only "
        "time it can be seen. --list shows what there is, --revoke NAME takes one away."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: user, and name and validity of a new token, or token to revoke."""
        parser.add_argument("username", metavar="USERNAME")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--name", default="command line", help="what the token is for")
        what.add_argument("--list", action="store_true", help="list the user's tokens")
        what.add_argument("--revoke", metavar="NAME", help="revoke the token of that name")
        how_long = parser.add_mutually_exclusive_group()
        how_long.add_argument(
            "--days", type=int, default=90, help=f"how long it holds: 1 to {MAX_DAYS} (default 90)"
        )
        how_long.add_argument(
            "--no-expiry", action="store_true", help="it holds until it is revoked"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command; exit status 2 for an unknown user or token, or invalid options."""
        users = get_user_model()._default_manager
        user = users.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"there is no user {options['username']!r}", returncode=USAGE)
        if options["list"]:
            for row in select_tokens(user):
                until = "until revoked" if row.expiry is None else f"until {row.expiry:%Y-%m-%d}"
                used = "never" if row.last_used_at is None else f"{row.last_used_at:%Y-%m-%d}"
                self.stdout.write(f"{row.name}\t{row.token_key[:7]}...\t{until}\tlast used {used}")
        elif options["revoke"] is not None:
            deleted, _ = select_tokens(user).filter(name=options["revoke"]).delete()
            if not deleted:
                raise CommandError(f"there is no token {options['revoke']!r}", returncode=USAGE)
        else:
            self._create_token(user, options)

    def _create_token(self, user: Any, options: dict[str, Any]) -> None:
        """Create an API token and print it."""
        name, days = options["name"].strip(), options["days"]
        if not 1 <= days <= MAX_DAYS or not 1 <= len(name) <= 100:
            raise CommandError(
                f"--days is 1 to {MAX_DAYS}, --name has 1 to 100 characters", returncode=USAGE
            )
        try:
            with transaction.atomic():
                _, token = create_token(user, name, None if options["no_expiry"] else days)
        except IntegrityError:
            raise CommandError(
                f"there is a token {name!r}: revoke it, or give another --name", returncode=USAGE
            ) from None
        self.stdout.write(token)
