"""Insert very many rows of one model into the database, faster than `bulk_create`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from annotations.exchange.importing.target import BATCH, split_in_chunks

AS_THEY_ARE = {"TextField", "CharField", "ForeignKey", "BooleanField", "FloatField"}
"""Field types whose Python values every database takes unchanged."""


def insert_rows(
    model: type[models.Model],
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    same: Mapping[str, Any],
) -> None:
    """Insert rows into a model's table: values of the fields `names`, and values shared by all.

    As `bulk_create`, which builds an object for each row and compiles the statement again for every
    80 of them: on SQLite that is three quarters of the time. Constraints and triggers apply here
    too. Every field but the key must be named, so a new field cannot be forgotten. None is NULL.
    """
    connection = connections[
        DEFAULT_DB_ALIAS
    ]  # not the proxy `connection`, which looks it up at each use
    fields = _require_all_fields(model, (*names, *same))
    prepare = _build_converters(fields, names, connection)
    fixed = _convert_shared_values(fields, same, connection)
    columns, table = (
        _quote_columns(fields, (*names, *same), connection),
        _quote_table(model, connection),
    )
    prepared = (_convert_row(prepare, row) + fixed for row in rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copy = f"COPY {table} ({columns}) FROM STDIN"
            with connection.wrap_database_errors, cursor.copy(copy) as stream:
                for row in prepared:
                    stream.write_row(row)
            return
        values = ", ".join(["%s"] * len(fields))
        statement = f"INSERT INTO {table} ({columns}) VALUES ({values})"  # noqa: S608
        for batch in split_in_chunks(prepared, BATCH):
            cursor.executemany(statement, batch)


class PreparedRows:
    """Rows of one model in a temporary SQLite table, to be inserted into its table in one step.

    Writing the table takes no lock: other users write meanwhile. Then one statement inserts all
    rows, several times as fast as row by row. No other connection sees the table, and it is deleted
    with the connection, so a killed process leaves nothing behind. A row is the values of the
    fields `names`; the fields in `numbered` hold numbers instead of keys, which are known only in
    the end.
    """

    def __init__(
        self,
        model: type[models.Model],
        names: Sequence[str],
        rows: Iterable[tuple[int, Sequence[Any]]],
        numbered: Sequence[str],
    ) -> None:
        """Write (number, values) rows to the temporary table; they are inserted by number."""
        self.model, self.names, self.numbered = model, tuple(names), tuple(numbered)
        self._fields = _map_model_fields(model)
        self._table = f"temp.rows_ahead_{next(_NUMBERS)}"
        connection = connections[DEFAULT_DB_ALIAS]
        prepare = _build_converters(self._fields, names, connection)
        for name in numbered:
            # A number is no key of the field yet, so it is not converted.
            prepare[self.names.index(name)] = None
        columns = _quote_columns(self._fields, names, connection)
        # Columns without a type keep every value as it is.
        self._create_table(self._table, f"number INTEGER PRIMARY KEY, {columns}")
        places = ", ".join(["%s"] * (len(self.names) + 1))
        statement = f"INSERT INTO {self._table} VALUES ({places})"  # noqa: S608
        prepared = ([number, *_convert_row(prepare, row)] for number, row in rows)
        try:
            for batch in split_in_chunks(prepared, BATCH):
                with _begin_deferred(connection), connection.cursor() as cursor:
                    cursor.executemany(statement, batch)
        except BaseException:
            self.close()
            raise

    def delete_rows(self, numbers: Iterable[int]) -> None:
        """Delete the rows with these numbers from the temporary table: they are not inserted."""
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.executemany(
                f"DELETE FROM {self._table} WHERE number = %s",  # noqa: S608
                [(number,) for number in numbers],
            )

    def insert_all(self, keys: Mapping[str, Sequence[int]], same: Mapping[str, Any]) -> None:
        """Insert all rows into the model's table; `keys` gives each field's primary keys by number.

        `same` are fields with one value for all rows; as in `insert_rows`, every field is named.
        """
        connection = connections[DEFAULT_DB_ALIAS]
        fields = _require_all_fields(self.model, (*self.names, *same))
        select_items, joins = [], []
        for name in self.names:
            column = connection.ops.quote_name(str(fields[name].column))
            if name not in self.numbered:
                select_items.append(f"ahead.{column}")
                continue
            table = f"{self._table}_{name}"
            self._create_table(table, "number INTEGER PRIMARY KEY, key INTEGER NOT NULL")
            with connection.cursor() as cursor:
                statement = f"INSERT INTO {table} VALUES (%s, %s)"  # noqa: S608
                cursor.executemany(statement, list(enumerate(keys[name])))
            select_items.append(f"of_{name}.key")
            # SQLite does not reorder a CROSS JOIN: it reads the rows in order and looks up each
            # key.
            joins.append(f"CROSS JOIN {table} of_{name} ON of_{name}.number = ahead.{column}")
        select_items += ["%s"] * len(same)
        columns = _quote_columns(fields, (*self.names, *same), connection)
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {_quote_table(self.model, connection)} ({columns}) "  # noqa: S608
                f"SELECT {', '.join(select_items)} FROM {self._table} ahead {' '.join(joins)} "
                "ORDER BY ahead.number",
                _convert_shared_values(fields, same, connection),
            )

    def close(self) -> None:
        """Drop the temporary tables of this object."""
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.connection is None or connection.needs_rollback:
            return  # gone, or about to go with the connection
        with connection.cursor() as cursor:
            for table in (self._table, *(f"{self._table}_{name}" for name in self.numbered)):
                cursor.execute(f"DROP TABLE IF EXISTS {table}")

    def _create_table(self, table: str, columns: str) -> None:
        """Create a temporary table with these SQL column definitions."""
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} ({columns})")


# Several stages of one connection have a table each.
_NUMBERS = itertools.count(1)


def has_one_writer() -> bool:
    """Return whether the database lets only one connection write at a time, as SQLite does."""
    return connections[DEFAULT_DB_ALIAS].vendor == "sqlite"


@contextmanager
def _begin_deferred(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Run the block in a transaction that does not take the database's write lock.

    `atomic` would take the write lock of the whole database.
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


def _map_model_fields(model: type[models.Model]) -> dict[str, Any]:
    """Return the concrete fields of a model, except the primary key, by name."""
    return {f.name: f for f in model._meta.concrete_fields if not f.primary_key}


def _require_all_fields(model: type[models.Model], names: Sequence[str]) -> dict[str, Any]:
    """Return a model's fields except the key; ValueError unless `names` lists each once."""
    fields = _map_model_fields(model)
    if fields.keys() != {*names} or len(fields) != len(names):
        raise ValueError(f"the fields of {model.__name__} are {', '.join(fields)}")
    return fields


def _build_converters(
    fields: Mapping[str, Any], names: Sequence[str], connection: BaseDatabaseWrapper
) -> list[Callable[[Any], Any] | None]:
    """Return a function for each field that converts its values for the database, or None."""
    return [
        None
        if fields[name].get_internal_type() in AS_THEY_ARE
        else partial(fields[name].get_db_prep_save, connection=connection)
        for name in names
    ]


def _convert_row(converters: list[Callable[[Any], Any] | None], row: Sequence[Any]) -> list[Any]:
    """Return the values of a row, converted for the database."""
    return [
        value if convert is None or value is None else convert(value)
        for convert, value in zip(converters, row, strict=True)
    ]


def _convert_shared_values(
    fields: Mapping[str, Any], same: Mapping[str, Any], connection: BaseDatabaseWrapper
) -> list[Any]:
    """Return the values that all rows share, converted for the database."""
    return [fields[name].get_db_prep_save(value, connection) for name, value in same.items()]


def _quote_columns(
    fields: Mapping[str, Any], names: Sequence[str], connection: BaseDatabaseWrapper
) -> str:
    """Return the quoted SQL column names of the fields `names`, separated by commas."""
    return ", ".join(connection.ops.quote_name(str(fields[name].column)) for name in names)


def _quote_table(model: type[models.Model], connection: BaseDatabaseWrapper) -> str:
    """Return the quoted SQL name of a model's table."""
    return connection.ops.quote_name(model._meta.db_table)
