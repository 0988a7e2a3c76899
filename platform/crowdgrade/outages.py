"""Recognizes errors of the environment: database busy or lost, disk full, folder read-only.

Such an error is neither a user's mistake nor a defect. It gets a message of its own on a page, in
the API and in a terminal, and posted values are not lost.
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

# PostgreSQL: lock timeout, deadlock, serialization failure, too many connections, starting up.
BUSY_STATES = {"55P03", "40P01", "40001", "53300", "57P03"}
# Administrator shutdown and crash shutdown. (Connection exceptions have codes of class 08.)
LOST_STATES = {"57P01", "57P02"}
FULL_STATE = "53100"
# SQLite's primary codes (the lower byte): BUSY and LOCKED, READONLY, IOERR and CANTOPEN, FULL.
SQLITE_BUSY, SQLITE_SEALED, SQLITE_FAILED, SQLITE_FULL = (5, 6), 8, (10, 14), 13
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
ACCESS_DENIED = (errno.EROFS, errno.EACCES, errno.EPERM)
LEAST_FREE = 1 << 20
"""Free bytes below which a disk counts as full if an error does not give the reason."""


BEHIND, DEMO_SEALED = "behind", "read-only-demo"
SENTENCES: Final = {
    "busy": "The database is busy ({reason}): try again in a moment.",
    "database-lost": "The database cannot be reached ({reason}): see that it runs, and "
    "DATABASE_URL.",
    "storage-full": "The disk is full ({reason}): free some space, and try again.",
    "read-only": "Nothing can be stored in {home} ({reason}): let this user write there, or set "
    "CROWDGRADE_HOME to another folder.",
    DEMO_SEALED: "Nothing can be stored in {home} ({reason}): let this user write there, or set "
    "CROWDGRADE_DEMO_HOME to another folder.",
    BEHIND: "The database lacks tables or columns of this release ({reason}): run `manage.py "
    "migrate`, or `make up`, which does it.",
}
"""Messages in a terminal, by code of the outage."""


class Outage(Enum):
    """Kind of outage; its value is the code of the API error."""

    BUSY = "busy"
    LOST = "database-lost"
    FULL = "storage-full"
    SEALED = "read-only"

    @property
    def is_temporary(self) -> bool:
        """Whether a retry after some seconds may succeed."""
        return self in (Outage.BUSY, Outage.LOST)


def find_outage(error: BaseException | None) -> Outage | None:
    """Return the outage that caused an error; None for other errors."""
    for cause in _iterate_causes(error):
        outage = (
            _classify_system_error(cause)
            or _classify_sqlite_error(cause)
            or _classify_postgresql_error(cause)
        )
        if outage is not None:
            return outage
    return None


def describe_outage(error: BaseException) -> str | None:
    """Return the terminal's message on an outage or a missing migration; None for other errors."""
    outage = find_outage(error)
    if outage is None:
        code = BEHIND if _lacks_migrations(error) else None
    elif outage is Outage.SEALED and settings.HOME == settings.DEMO_HOME:
        code = DEMO_SEALED
    else:
        code = outage.value
    return (
        None
        if code is None
        else SENTENCES[code].format(reason=_extract_reason(error), home=settings.HOME)
    )


def _lacks_migrations(error: BaseException) -> bool:
    """Return whether a database error is due to migrations that were not applied."""
    if not any(_is_missing_table(cause) for cause in _iterate_causes(error)):
        return False
    try:
        # A defect may name a missing column, too: only migrations that were not run are an outage.
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


def _is_missing_table(error: BaseException) -> bool:
    """Return whether an error means that a table or column does not exist."""
    if isinstance(error, sqlite3.OperationalError):
        # An INSERT says "table T has no column named C".
        return str(error).startswith(("no such table", "no such column", "table "))
    return isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn)


def _iterate_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, at most ten."""
    n = 0
    while error is not None and n < 10:
        yield error
        error, n = error.__cause__, n + 1


def _classify_system_error(error: BaseException) -> Outage | None:
    """Return the outage of an `OSError`: disk full or folder read-only; else None."""
    if not isinstance(error, OSError):
        return None
    if error.errno in NO_ROOM:
        return Outage.FULL
    # Elsewhere a denied access has other reasons, which the writing code reports.
    is_local = isinstance(error.filename, str) and _is_local_state(Path(error.filename))
    return Outage.SEALED if error.errno in ACCESS_DENIED and is_local else None


def _is_local_state(path: Path) -> bool:
    """Return whether a path is in the folders of local state, or contains one."""
    homes = [Path(settings.HOME), Path(settings.UPLOADS)]
    return any(path.is_relative_to(home) or home.is_relative_to(path) for home in homes)


def _classify_sqlite_error(error: BaseException) -> Outage | None:
    """Return the outage of an SQLite error, by its primary code; else None."""
    if not isinstance(error, sqlite3.OperationalError):
        return None
    # The lower byte of an extended result code is the primary code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in SQLITE_BUSY:
        return Outage.BUSY
    # SQLite may report a full disk as a failed write or open, so the free space decides.
    if code == SQLITE_FULL or (code in SQLITE_FAILED and _is_disk_full()):
        return Outage.FULL
    return Outage.SEALED if code == SQLITE_SEALED else None


def _is_disk_full() -> bool:
    """Return whether the disk with the local state is full."""
    try:
        return shutil.disk_usage(settings.HOME).free < LEAST_FREE
    except OSError:
        return False


def _classify_postgresql_error(error: BaseException) -> Outage | None:
    """Return the outage of a PostgreSQL error, by its SQLSTATE; else None."""
    if not isinstance(error, psycopg.OperationalError):
        return None
    state = error.sqlstate
    if state in BUSY_STATES:
        return Outage.BUSY
    if state == FULL_STATE:
        return Outage.FULL
    # Without a code the error is the client's: the server did not answer.
    return Outage.LOST if state is None or state in LOST_STATES or state[:2] == "08" else None


def _extract_reason(error: BaseException) -> str:
    """Return the first line of an error's text, without a full stop."""
    text = getattr(error, "strerror", None) or str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0].rstrip(".:")
