"""Consistent copies of a running database, and replacement of a database by such a copy.

SQLite is copied by its online backup API, PostgreSQL by pg_dump. Both copies show one moment, while
other processes read and write. Numbers of rows are counted in the same moment.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.db import connection, connections

from crowdgrade.backups.messages import BackupError
from crowdgrade.home import create_private_folder

SQLITE, POSTGRESQL = "sqlite", "postgresql"
FILES: Final = {SQLITE: "database.sqlite3", POSTGRESQL: "database.pgdump"}
"""Name of the database's copy in a backup, by type of database."""
OWN: Final = ("auth_user", "annotations_", "evaluation_", "crowdgrade_")
"""Tables with data of users; a new installation has no rows in them."""
UPLOAD_TABLE: Final = "annotations_upload"
SELECT_UPLOADS: Final = "SELECT file, checked FROM annotations_upload"
Query = Callable[[str], Sequence[Sequence[Any]]]


@dataclass(frozen=True)
class DatabaseContents:
    """Description of a database copy: engine version, migrations and numbers of rows.

    Attributes
    ----------
    version : version of the database program.
    migrations : the applied migrations, "APP.NAME", in order.
    counts : number of rows by table.
    uploads : names of the uploaded files to which rows refer.
    """

    version: str
    migrations: tuple[str, ...]
    counts: Mapping[str, int]
    uploads: tuple[str, ...]


def get_engine() -> str:
    """Return the engine of this installation's database: SQLITE or POSTGRESQL."""
    return SQLITE if connection.vendor == "sqlite" else POSTGRESQL


def get_sqlite_path() -> Path:
    """Return the path of this installation's SQLite database."""
    return Path(connection.settings_dict["NAME"])


def copy_database(target: Path) -> DatabaseContents:
    """Copy the database of this installation to the file `target`; return its contents.

    Raises `BackupError`: `nothing_to_save`, `program_missing` or `program_failed`.
    """
    return _copy_sqlite(target) if get_engine() == SQLITE else _copy_postgresql(target)


def replace_database(copy: Path) -> None:
    """Replace the database of this installation by a copy, completely or not at all.

    The connections of this process are closed. Raises `BackupError` as `copy_database` does.
    """
    connections.close_all()
    if get_engine() == SQLITE:
        _replace_sqlite(copy)
    else:
        _replace_postgresql(copy)


def list_tables() -> list[str]:
    """Return the tables of this installation's database; [] if there is no SQLite file."""
    if get_engine() == SQLITE and not get_sqlite_path().exists():
        return []
    names = sorted(connection.introspection.table_names())
    # SQLite's own tables, such as statistics.
    return [name for name in names if not name.startswith("sqlite_")]


def list_foreign_tables(tables: Iterable[str]) -> list[str]:
    """Return those of `tables` that belong to no app of this site, nor to Django."""
    labels = tuple(f"{app_config.label}_" for app_config in apps.get_app_configs())
    return [name for name in tables if not name.startswith((*labels, "django_", "knox_"))]


def count_user_rows(tables: Iterable[str]) -> dict[str, int]:
    """Return the number of rows by table, for the tables with users' data that are not empty."""
    own = [name for name in tables if name.startswith(OWN)]
    counts = count_table_rows(own)
    return {name: n for name, n in counts.items() if n}


def list_upload_names(tables: Sequence[str]) -> set[str]:
    """Return the names of the uploaded files to which rows of this installation refer."""
    if UPLOAD_TABLE not in tables:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(SELECT_UPLOADS)
        return {name for row in cursor.fetchall() for name in row if name}


def count_table_rows(tables: Iterable[str]) -> dict[str, int]:
    """Return the number of rows by table of this installation's database."""
    with connection.cursor() as cursor:

        def run_query(sql: str) -> Sequence[Sequence[Any]]:
            """Return the rows of an SQL query."""
            cursor.execute(sql)
            return cursor.fetchall()

        return _query_row_counts(run_query, tables)


def describe_other_use() -> str | None:
    """Return what else uses the database, as text; None if nothing does.

    Closes the connections of this process, and empties the write-ahead log of SQLite.
    """
    if get_engine() == POSTGRESQL:
        with connection.cursor() as cursor:
            # Without those of no user: the server's own, such as autovacuum, end by themselves.
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND usesysid IS NOT NULL"
            )
            n = cursor.fetchone()[0]
        connections.close_all()
        return f"{n} connections to the database" if n else None
    path = get_sqlite_path()
    connections.close_all()
    if not path.exists():
        return None
    with closing(sqlite3.connect(path, timeout=1)) as database:
        try:
            # Leaving WAL takes an exclusive lock, which no other open connection permits. It also
            # moves the log into the file, which is about to be replaced.
            database.execute("PRAGMA journal_mode=DELETE").fetchone()
        except sqlite3.OperationalError:
            return "another process has the database open"
    return None


def _query_row_counts(query: Query, tables: Iterable[str]) -> dict[str, int]:
    """Return the number of rows by table, each counted by an SQL query."""
    # Names of tables of the database itself, never of a user.
    return {name: int(query(f'SELECT COUNT(*) FROM "{name}"')[0][0]) for name in tables}  # noqa: S608


def _read_contents(query: Query, version: str, tables: Iterable[str]) -> DatabaseContents:
    """Return the description of a database, read in one transaction."""
    names = list(tables)
    migrations, uploads = [], []
    if "django_migrations" in names:
        rows = query("SELECT app, name FROM django_migrations ORDER BY id")
        migrations = [f"{app}.{name}" for app, name in rows]
    if UPLOAD_TABLE in names:
        rows = query(SELECT_UPLOADS)
        uploads = sorted({name for row in rows for name in row if name})
    return DatabaseContents(
        version, tuple(migrations), _query_row_counts(query, names), tuple(uploads)
    )


def _copy_sqlite(target: Path) -> DatabaseContents:
    """Copy the SQLite database to the file `target`; return the copy's contents."""
    path = get_sqlite_path()
    if not path.exists():
        raise BackupError("nothing_to_save", place=path)
    target.touch(mode=0o600)
    with (
        closing(sqlite3.connect(path, timeout=20)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        # In one step: between several, a busy site would start the copy again and again. In WAL
        # mode a reader of any length delays no writer.
        source.backup(copy)
        # The copy is one file, without a log beside it.
        copy.execute("PRAGMA journal_mode=DELETE").fetchone()
        rows = copy.execute("SELECT name, type FROM sqlite_schema ORDER BY name")
        tables = [name for name, kind in rows if kind == "table" and not name.startswith("sqlite_")]
        return _read_contents(
            lambda sql: copy.execute(sql).fetchall(), sqlite3.sqlite_version, tables
        )


def _replace_sqlite(copy: Path) -> None:
    """Replace the SQLite database by a copy."""
    path = get_sqlite_path()
    create_private_folder(path.parent)
    # `describe_other_use` has emptied the logs; one that is left would be applied to the new file.
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    # First into the folder, as renaming is atomic within one file system only.
    fresh = path.with_name(f".{path.name}.restored")
    try:
        shutil.copyfile(copy, fresh)
        fresh.chmod(0o600)
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _copy_postgresql(target: Path) -> DatabaseContents:
    """Dump the PostgreSQL database to the file `target`; return the dump's contents."""
    with _open_snapshot() as (name, query, version):
        tables = [
            row[0]
            for row in query(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
            )
        ]
        contents = _read_contents(query, version, tables)
        options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={name}"]
        target.touch(mode=0o600)
        _run_program("pg_dump", *options, "--file", str(target))
    return contents


@contextmanager
def _open_snapshot() -> Iterator[tuple[str, Query, str]]:
    """Yield a snapshot's name, a function to query it, and the server's version."""
    import psycopg  # SQLite needs no driver

    parameters = connection.get_connection_params()
    for name in ("cursor_factory", "context"):
        parameters.pop(name, None)
    with psycopg.connect(**parameters) as session:
        session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        session.read_only = True
        row = session.execute("SELECT pg_export_snapshot(), current_setting('server_version')")
        snapshot = row.fetchone()
        assert snapshot is not None
        # Out of our own code: names of tables and columns, no value.
        yield (
            snapshot[0],
            lambda sql: session.execute(sql.encode()).fetchall(),
            snapshot[1].split()[0],
        )


def _replace_postgresql(copy: Path) -> None:
    """Replace the PostgreSQL schema "public" by a dump, in one transaction."""
    script = copy.with_suffix(".sql")
    script.touch(mode=0o600)
    _run_program("pg_restore", "--no-owner", "--no-privileges", "--file", str(script), str(copy))
    afresh = "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public"
    try:
        options = ["--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        _run_program("psql", *options, "--command", afresh, "--file", str(script))
    finally:
        script.unlink(missing_ok=True)


def _run_program(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on the database of this installation."""
    path = shutil.which(program)
    if path is None:
        raise BackupError("program_missing", program=program)
    finished = subprocess.run(
        [path, *arguments],
        check=False,
        env=_build_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    if finished.returncode:
        lines = [line for line in finished.stderr.splitlines() if line.strip()]
        raise BackupError("program_failed", program=program, reason=(lines or ["?"])[-1])


def _build_environment() -> dict[str, str]:
    """Return the environment of PostgreSQL's programs, with the password and the connection."""
    from django.db.backends.postgresql.client import DatabaseClient

    named = connection.settings_dict
    _, chosen = DatabaseClient.settings_to_cmd_args_env(named, [])
    places = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGDATABASE": "NAME"}
    values = {name: str(named[key]) for name, key in places.items() if named.get(key)}
    return {**os.environ, **values, **(chosen or {})}
