"""Replays database rows: what a function stored once is stored again without running it.

A graded set takes a third of a second to make, and a thousand tests want the same one. On SQLite
the numbers that rows get are taken back with a test's transaction, so the same function called in
the same state stores the same rows.
"""

from collections.abc import Callable, Hashable
from typing import Any

from django.db import connection

_STORED: dict[Hashable, tuple[dict[str, list[tuple[Any, ...]]], Any]] = {}


def replay_rows(key: Hashable, make: Callable[[], Any]) -> Any:
    """Store the rows that `make` stores in this state, and return what it returned first.

    `make` stores rows only, changes none, and returns something that no test changes, such as
    primary keys. On other databases than SQLite it is called each time.
    """
    if connection.vendor != "sqlite":
        return make()
    state = (key, tuple(_rows("SELECT name, seq FROM sqlite_sequence ORDER BY name")))
    if state not in _STORED:
        before = _all_rows()
        returned = make()
        new = {table: rows - before[table] for table, rows in _all_rows().items()}
        _STORED[state] = ({table: list(rows) for table, rows in new.items() if rows}, returned)
        return returned
    tables, returned = _STORED[state]
    guards = [
        (name, statement)
        for name, table, statement in _rows(
            "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
        )
        if table in tables
    ]
    # They refuse what may not follow later, such as an answer in a version that is published.
    with connection.cursor() as cursor:
        for name, _ in guards:
            cursor.execute(f'DROP TRIGGER "{name}"')
        for table, rows in tables.items():
            places = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f'INSERT INTO "{table}" VALUES ({places})', rows)
        for _, statement in guards:
            cursor.execute(statement)
    return returned


def _rows(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        # As they are in the file: the backend makes dates and decimals of columns that say so.
        return [tuple(row) for row in cursor.fetchall()]


def _all_rows() -> dict[str, set[tuple[Any, ...]]]:
    names = (one for one in connection.introspection.table_names() if "sqlite_" not in one)
    return {name: set(_rows(f'SELECT * FROM "{name}"')) for name in names}
