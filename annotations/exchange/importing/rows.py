"""Adding very many rows of one model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models

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
    fields = {f.name: f for f in model._meta.concrete_fields if not f.primary_key}
    if fields.keys() != {*names, *same} or len(fields) != len(names) + len(same):
        raise ValueError(f"the fields of {model.__name__} are {', '.join(fields)}")
    connection = connections[DEFAULT_DB_ALIAS]  # itself: its stand-in finds it anew at every use
    prepare = [
        None
        if fields[name].get_internal_type() in AS_THEY_ARE
        else partial(fields[name].get_db_prep_save, connection=connection)
        for name in names
    ]
    fixed = [fields[name].get_db_prep_save(value, connection) for name, value in same.items()]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(fields[name].column)) for name in (*names, *same))
    table = quote(model._meta.db_table)
    prepared = (
        [
            value if prepared is None or value is None else prepared(value)
            for prepared, value in zip(prepare, row, strict=True)
        ]
        + fixed
        for row in rows
    )
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
