"""Adding very many rows of one model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from annotations.exchange.importing.target import BATCH, chunks

AS_THEY_ARE = {"TextField", "CharField", "ForeignKey", "BooleanField", "FloatField"}
"""Fields whose Python values every database takes: preparing them would change nothing."""


def add_rows(
    model: type[models.Model],
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    same: Mapping[str, Any],
) -> None:
    """Insert rows given by the values of the fields `names`, beside the fields that are the same.

    As `bulk_create`, which makes an object a row and compiles the statement anew for every 80 of
    them: on SQLite that is three quarters of the time. Constraints and triggers hold here too.
    Every field but the key is named, so a new one cannot be forgotten. None is NULL.
    """
    connection = connections[DEFAULT_DB_ALIAS]  # itself: its stand-in finds it anew at every use
    fields = _all_named(model, (*names, *same))
    prepare = _preparing(fields, names, connection)
    fixed = _fixed(fields, same, connection)
    columns, table = _columns(fields, (*names, *same), connection), _table(model, connection)
    prepared = (_prepared(prepare, row) + fixed for row in rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copy = f"COPY {table} ({columns}) FROM STDIN"
            with connection.wrap_database_errors, cursor.copy(copy) as stream:
                for row in prepared:
                    stream.write_row(row)
            return
        values = ", ".join(["%s"] * len(fields))
        statement = f"INSERT INTO {table} ({columns}) VALUES ({values})"  # noqa: S608
        for batch in chunks(prepared, BATCH):
            cursor.executemany(statement, batch)


class RowsAhead:
    """Rows of one model that wait in a table which only this connection has, on SQLite.

    Laying them there takes no lock: others write meanwhile. Then one statement inserts them all,
    several times as fast as row by row. Nobody else ever sees the table, and it ends with the
    connection, so a process that is killed leaves nothing to clean up. A row is the values of
    the fields `names`; in those of `numbered` stand numbers, for keys that are known in the end.
    """

    def __init__(
        self,
        model: type[models.Model],
        names: Sequence[str],
        rows: Iterable[tuple[int, Sequence[Any]]],
        numbered: Sequence[str],
    ) -> None:
        """Lay the rows there; each comes with its number, in whose order they are inserted."""
        self.model, self.names, self.numbered = model, tuple(names), tuple(numbered)
        self._fields = _fields(model)
        self._table = f"temp.rows_ahead_{next(_NUMBERS)}"
        connection = connections[DEFAULT_DB_ALIAS]
        prepare = _preparing(self._fields, names, connection)
        for name in numbered:
            prepare[self.names.index(name)] = None
        columns = _columns(self._fields, names, connection)
        # Columns without a type keep every value as it is.
        self._make(self._table, f"number INTEGER PRIMARY KEY, {columns}")
        places = ", ".join(["%s"] * (len(self.names) + 1))
        statement = f"INSERT INTO {self._table} VALUES ({places})"  # noqa: S608
        prepared = ([number, *_prepared(prepare, row)] for number, row in rows)
        try:
            for batch in chunks(prepared, BATCH):
                with _together(connection), connection.cursor() as cursor:
                    cursor.executemany(statement, batch)
        except BaseException:
            self.close()
            raise

    def leave_out(self, numbers: Iterable[int]) -> None:
        """Forget some rows."""
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.executemany(
                f"DELETE FROM {self._table} WHERE number = %s",  # noqa: S608
                [(number,) for number in numbers],
            )

    def insert(self, keys: Mapping[str, Sequence[int]], same: Mapping[str, Any]) -> None:
        """Insert them all; `keys` has for each numbered field the key of every number.

        Beside them fields that are the same in all rows; as `add_rows`, every field is named.
        """
        connection = connections[DEFAULT_DB_ALIAS]
        every = _all_named(self.model, (*self.names, *same))
        chosen, joined = [], []
        for name in self.names:
            column = connection.ops.quote_name(str(every[name].column))
            if name not in self.numbered:
                chosen.append(f"ahead.{column}")
                continue
            table = f"{self._table}_{name}"
            self._make(table, "number INTEGER PRIMARY KEY, key INTEGER NOT NULL")
            with connection.cursor() as cursor:
                statement = f"INSERT INTO {table} VALUES (%s, %s)"  # noqa: S608
                cursor.executemany(statement, list(enumerate(keys[name])))
            chosen.append(f"of_{name}.key")
            joined.append(f"CROSS JOIN {table} of_{name} ON of_{name}.number = ahead.{column}")
        chosen += ["%s"] * len(same)
        columns = _columns(every, (*self.names, *same), connection)
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {_table(self.model, connection)} ({columns}) "  # noqa: S608
                f"SELECT {', '.join(chosen)} FROM {self._table} ahead {' '.join(joined)} "
                "ORDER BY ahead.number",
                _fixed(every, same, connection),
            )

    def close(self) -> None:
        """Take the tables away."""
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.connection is None or connection.needs_rollback:
            return  # gone, or about to go with the connection
        with connection.cursor() as cursor:
            for table in (self._table, *(f"{self._table}_{name}" for name in self.numbered)):
                cursor.execute(f"DROP TABLE IF EXISTS {table}")

    def _make(self, table: str, columns: str) -> None:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} ({columns})")


_NUMBERS = itertools.count(1)


def has_one_writer() -> bool:
    """Whether whoever writes keeps all others from writing, as on SQLite."""
    return connections[DEFAULT_DB_ALIAS].vendor == "sqlite"


@contextmanager
def _together(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Make many statements on a table of this connection alone one transaction.

    Not by `atomic`, which takes the lock of the database as whoever means to write there does.
    """
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute("COMMIT")


def _fields(model: type[models.Model]) -> dict[str, Any]:
    return {f.name: f for f in model._meta.concrete_fields if not f.primary_key}


def _all_named(model: type[models.Model], names: Sequence[str]) -> dict[str, Any]:
    """The fields but the key; ValueError unless each is named once."""
    fields = _fields(model)
    if fields.keys() != {*names} or len(fields) != len(names):
        raise ValueError(f"the fields of {model.__name__} are {', '.join(fields)}")
    return fields


def _preparing(
    fields: Mapping[str, Any], names: Sequence[str], connection: BaseDatabaseWrapper
) -> list[Callable[[Any], Any] | None]:
    return [
        None
        if fields[name].get_internal_type() in AS_THEY_ARE
        else partial(fields[name].get_db_prep_save, connection=connection)
        for name in names
    ]


def _prepared(prepare: list[Callable[[Any], Any] | None], row: Sequence[Any]) -> list[Any]:
    return [
        value if prepared is None or value is None else prepared(value)
        for prepared, value in zip(prepare, row, strict=True)
    ]


def _fixed(
    fields: Mapping[str, Any], same: Mapping[str, Any], connection: BaseDatabaseWrapper
) -> list[Any]:
    return [fields[name].get_db_prep_save(value, connection) for name, value in same.items()]


def _columns(
    fields: Mapping[str, Any], names: Sequence[str], connection: BaseDatabaseWrapper
) -> str:
    return ", ".join(connection.ops.quote_name(str(fields[name].column)) for name in names)


def _table(model: type[models.Model], connection: BaseDatabaseWrapper) -> str:
    return connection.ops.quote_name(model._meta.db_table)
