"""What an installation cannot do for a while: its database is busy or gone, its disk is full.

An error of that kind is nobody's mistake and no defect: it is told in words, on a page, as a
problem of the API or in a terminal, and what was sent is not lost over it.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Final

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

# Codes of PostgreSQL: no lock in time, a deadlock, serialization, too many connections, starting.
BUSY_STATES = {"55P03", "40P01", "40001", "53300", "57P03"}
# The administrator ended the connection, the server crashed. (Class 08 are connections, too.)
LOST_STATES = {"57P01", "57P02"}
FULL_STATE = "53100"
# SQLite's (the lower byte is the kind): BUSY and LOCKED, READONLY, IOERR and CANTOPEN, FULL.
SQLITE_BUSY, SQLITE_SEALED, SQLITE_FAILED, SQLITE_FULL = (5, 6), 8, (10, 14), 13
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)
LEAST_FREE = 1 << 20
"""Bytes below which a disk counts as full where an error does not say why."""


BEHIND, DEMO_SEALED = "behind", "read-only-demo"
SENTENCES: Final = {
    "busy": "The database is busy ({reason}): try again in a moment.",
    "database-lost": "The database cannot be reached ({reason}): see that it runs, and "
    "DATABASE_URL.",
    "storage-full": "There is no room left to store anything ({reason}): make room, and try again.",
    "read-only": "Nothing can be stored in {home} ({reason}): let this user write there, or set "
    "CROWDGRADE_HOME to another folder.",
    DEMO_SEALED: "Nothing can be stored in {home} ({reason}): let this user write there, or set "
    "CROWDGRADE_DEMO_HOME to another folder.",
    BEHIND: "The database lacks tables or columns of this release ({reason}): run `manage.py "
    "migrate`, or `make up`, which does it.",
}
"""What an operator is told in a terminal, by the outage."""


class Outage(Enum):
    """What is the matter; the value is the code of the API's problem."""

    BUSY = "busy"
    LOST = "database-lost"
    FULL = "storage-full"
    SEALED = "read-only"

    @property
    def passes(self) -> bool:
        """Whether the same a few seconds later may do; else somebody has to make room."""
        return self in (Outage.BUSY, Outage.LOST)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return what an error is a sign of; None for every other error."""
    for one in _with_causes(error):
        found = _by_system(one) or _by_sqlite(one) or _by_postgresql(one)
        if found is not None:
            return found
    return None


def told(error: BaseException) -> str | None:
    """Return what to tell an operator in a terminal, and what to do; None for other errors."""
    outage = outage_of(error)
    if outage is None:
        code = BEHIND if _is_behind(error) else None
    elif outage is Outage.SEALED and settings.HOME == settings.DEMO_HOME:
        code = DEMO_SEALED
    else:
        code = outage.value
    return (
        None if code is None else SENTENCES[code].format(reason=_reason(error), home=settings.HOME)
    )


def _is_behind(error: BaseException) -> bool:
    """Whether something is not there that a migration makes which was not run yet."""
    if not any(_lacks_a_table(one) for one in _with_causes(error)):
        return False
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


def _lacks_a_table(error: BaseException) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith(("no such table", "no such column", "table "))
    return isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn)


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from."""
    seen = 0
    while error is not None and seen < 10:
        yield error
        error, seen = error.__cause__, seen + 1


def _by_system(error: BaseException) -> Outage | None:
    if not isinstance(error, OSError):
        return None
    if error.errno in NO_ROOM:
        return Outage.FULL
    # Other places are refused for other reasons, which whoever wrote there tells.
    ours = isinstance(error.filename, str) and _is_ours(Path(error.filename))
    return Outage.SEALED if error.errno in REFUSED and ours else None


def _is_ours(path: Path) -> bool:
    """Whether a path is of the local state, or a folder in which that would be made."""
    homes = [Path(settings.HOME), Path(settings.UPLOADS)]
    return any(path.is_relative_to(home) or home.is_relative_to(path) for home in homes)


def _by_sqlite(error: BaseException) -> Outage | None:
    if not isinstance(error, sqlite3.OperationalError):
        return None
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in SQLITE_BUSY:
        return Outage.BUSY
    if code == SQLITE_FULL or (code in SQLITE_FAILED and _has_no_room()):
        return Outage.FULL
    return Outage.SEALED if code == SQLITE_SEALED else None


def _has_no_room() -> bool:
    """Whether the disk of the local state is full."""
    try:
        return shutil.disk_usage(settings.HOME).free < LEAST_FREE
    except OSError:
        return False


def _by_postgresql(error: BaseException) -> Outage | None:
    if not isinstance(error, psycopg.OperationalError):
        return None
    state = error.sqlstate
    if state in BUSY_STATES:
        return Outage.BUSY
    if state == FULL_STATE:
        return Outage.FULL
    # Without a code it was not the server that spoke: nobody was there, or is there any more.
    return Outage.LOST if state is None or state in LOST_STATES or state[:2] == "08" else None


def _reason(error: BaseException) -> str:
    """Return the first line of what the system said, without a full stop."""
    said = getattr(error, "strerror", None) or str(error)
    return (said.strip().splitlines() or [type(error).__name__])[0].rstrip(".:")
