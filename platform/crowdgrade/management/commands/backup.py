"""Command that writes a backup of the installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

USAGE = 2


class Command(BaseCommand):
    """Write database, uploads and secret key to one file, while the site runs."""

    help = (
        "Write a backup of database, uploads and secret key to one file, while the site runs. "
        "Restore it with `manage.py restore`. The file holds all answers and the secret key: "
        "store it encrypted, on another machine."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: place, and age of backups to delete."""
        parser.add_argument(
            "place",
            metavar="PLACE",
            type=Path,
            help="a folder, where the file is named by the time, or a new file *.tar.gz",
        )
        parser.add_argument(
            "--keep-days",
            type=int,
            metavar="DAYS",
            help="afterwards delete backups in the folder PLACE that are older than this",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the backup; exit code 2 for a wrong place, 1 if it failed."""
        from crowdgrade.backups import archive
        from crowdgrade.backups.messages import BackupError

        place, days = options["place"], options["keep_days"]
        if days is not None and days < 1:
            raise CommandError("--keep-days is a whole number above 0", returncode=USAGE)
        try:
            if days is not None and not place.is_dir():
                raise BackupError("keep_days_need_a_folder")
            path, manifest = archive.write_backup(place)
        except BackupError as error:
            is_usage = error.code.startswith(("place_", "keep_days_"))
            raise CommandError(str(error), returncode=USAGE if is_usage else 1) from error
        self.stdout.write(
            f"{path}: {path.stat().st_size:,} bytes, {manifest.database}, "
            f"{sum(manifest.counts.values()):,} rows, {len(manifest.files) - 2} uploads"
        )
        if days is not None:
            for name in archive.delete_old_backups(place, days):
                self.stdout.write(f"deleted {name}")
