"""Command that restores the installation from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

USAGE = 2
# Codes of what is neither the file's nor the command line's fault: exit code 1.
FAILURES = (
    *("program_missing", "program_failed", "counts_differ", "not_confirmed", "in_use", "no_room"),
)
CONFIRMATION = "replace"


class Command(BaseCommand):
    """Restore database, uploads and secret key from a backup."""

    help = (
        "Restore database, uploads and secret key from a backup that `manage.py backup` wrote, "
        "into an empty installation. Everything is checked before anything is changed."
    )
    # The database may be empty, or of another version.
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: place, replacement and confirmation."""
        parser.add_argument("place", metavar="PLACE", type=Path, help="the backup, *.tar.gz")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace an installation with data; asks for confirmation",
        )
        parser.add_argument(
            "--no-input",
            dest="interactive",
            action="store_false",
            help="with --replace: do not ask for confirmation",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore the backup; exit code 2 if it was refused, 1 if it failed."""
        from crowdgrade.backups.messages import BackupError
        from crowdgrade.backups.restoring import restore_backup
        from crowdgrade.home import KEY_FILE

        def confirm(data: dict[str, int]) -> bool:
            """Return whether the user confirms that the data is replaced."""
            if not options["interactive"]:
                return True
            n = sum(data.values())
            self.stdout.write(f"This deletes {n:,} rows of {len(data)} tables of this installation")
            self.stdout.write(f"({settings.HOME}). Type {CONFIRMATION} to continue: ", ending="")
            self.stdout.flush()
            try:
                return input().strip() == CONFIRMATION
            except EOFError:
                return False

        try:
            result = restore_backup(options["place"], replace=options["replace"], confirm=confirm)
        except BackupError as error:
            returncode = 1 if error.code in FAILURES else USAGE
            raise CommandError(str(error), returncode=returncode) from error
        manifest = result.manifest
        n_rows, n_uploads = sum(manifest.counts.values()), len(manifest.files) - 2
        self.stdout.write(
            f"Restored {n_rows:,} rows and {n_uploads} uploads of {manifest.created_at}, "
            f"written by Crowdgrade {manifest.crowdgrade}."
        )
        if result.has_other_key:
            self.stdout.write(
                "SECRET_KEY of the environment is not the backup's: second factors, webhooks, "
                "sessions and links of workers stay invalid. Remove the variable, or set it to "
                f"the key in {settings.HOME / KEY_FILE}."
            )
        if result.n_migrated:
            self.stdout.write(f"Applied {result.n_migrated} migrations of this version.")
        if result.n_erased:
            self.stdout.write(
                f"Requested {result.n_erased} erasures again that the replaced database recorded. "
                "A background process carries them out."
            )
