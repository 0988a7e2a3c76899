"""Reasons why a backup or a restoration is refused, by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SENTENCES: Final[Mapping[str, str]] = {
    # Writing a backup.
    "place_exists": "{place} exists already: name another file, or a folder.",
    "place_without_folder": "There is no folder {folder}: make it first.",
    "place_not_a_backup_name": "{place} is neither a folder nor a name that ends in .tar.gz: "
    "name one of these.",
    "nothing_to_save": "There is no database at {place}: see CROWDGRADE_HOME and DATABASE_URL.",
    "program_missing": "{program} is not on this machine: install PostgreSQL's client programs "
    "(package postgresql-client), of the server's version or a newer one.",
    "program_failed": "{program} failed: {reason}",
    "keep_days_need_a_folder": "--keep-days deletes old backups in a folder: name a folder.",
    "not_written": "The backup was not written to {place} ({reason}): nothing is left there.",
    # Reading a backup.
    "no_backup": "{place} is no backup of Crowdgrade ({reason}): name a file that `manage.py "
    "backup` wrote.",
    "damaged": "{place} is damaged ({reason}). Nothing was changed: use another backup, or fetch "
    "this one again.",
    "files_missing": "{place} lacks {names}. Nothing was changed: use another backup, or fetch "
    "this one again.",
    "no_room": "{folder} has no room for the {bytes:,} bytes of the backup. Nothing was changed: "
    "free some space, or set CROWDGRADE_HOME to another disk.",
    "newer_format": "{place} was written by Crowdgrade {version} in a newer format ({format}). "
    "Nothing was changed: upgrade Crowdgrade first.",
    "newer_schema": "{place} is of a newer version ({version}), which has the migrations {names}. "
    "Nothing was changed: upgrade Crowdgrade to that version first.",
    "other_database": "{place} holds a {saved} database, and this installation uses {used}. "
    "Nothing was changed: set DATABASE_URL to a {saved} database.",
    # The installation that it would be restored into.
    "not_empty": "This installation has data ({counts}). Nothing was changed: restore into an "
    "empty CROWDGRADE_HOME and database, or add --replace, which deletes this data.",
    "foreign_tables": "The database has tables of other programs ({names}). Nothing was changed: "
    "restore into a database of its own.",
    "in_use": "The site is in use ({reason}). Nothing was changed: stop its web servers and "
    "background processes first.",
    "not_confirmed": "Nothing was changed, because it was not confirmed.",
    "counts_differ": "The database was restored, but these tables have other numbers of rows than "
    "the backup: {names}. Restore another backup.",
}


class BackupError(Exception):
    """Error: a backup or restoration is refused; `code` is a key of `SENTENCES`."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(SENTENCES[code].format_map(values))
        self.code, self.values = code, values
