"""Refuses to migrate a database of an early version that this version cannot upgrade.

The first migration of each app creates all tables of version 0.1.0; the migrations it replaced were
deleted. A database that has only some of those can only be upgraded by version 0.1.0.
"""

from __future__ import annotations

from typing import Final

from django.core.management.base import CommandError
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

FIRST: Final = {
    "annotations": "0001_squashed_0030_device_and_assistive_technology",
    "evaluation": "0001_squashed_0028_settled_by_a_third",
}
"""The first migration of each app."""
LAST_WITH_EARLIER = "072ad221"
"""The last commit that has the migrations before `FIRST`."""
TOO_OLD = (
    "The database is older than this version can upgrade: of {app} it has the migrations up to "
    "{last}, and not {first}. Nothing was changed. Upgrade it to version 0.1.0 at commit {commit} "
    "first (`git checkout {commit}`, `make install`, `manage.py migrate`), then to this version."
)


def refuse_old_database(using: str) -> None:
    """Raise `CommandError` if the database is too old for an upgrade.

    Tables without a record of `FIRST`, but with records of other migrations, are such tables. If
    there are only records, the app was migrated back to nothing and starts again.
    """
    connection = connections[using]
    applied = MigrationRecorder(connection).applied_migrations()
    for app, first in FIRST.items():
        names = sorted(name for owner, name in applied if owner == app)
        if not names or first in names:
            continue
        tables = connection.introspection.table_names()
        if any(table.startswith(f"{app}_") for table in tables):
            raise CommandError(
                TOO_OLD.format(app=app, last=names[-1], first=first, commit=LAST_WITH_EARLIER)
            )
