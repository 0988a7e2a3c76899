"""Connections to SQLite stay open between requests, as long as their file has its name."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db.utils import ConnectionHandler

from crowdgrade import settings

pytestmark = pytest.mark.django_db


def made(path: Path, text: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE words (text text)")
        database.execute("INSERT INTO words VALUES (?)", [text])


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    made(tmp_path / "site.sqlite3", "old")
    known = {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    site = {"ENGINE": "crowdgrade.sqlite", "NAME": str(tmp_path / "site.sqlite3"), **known}
    opened = ConnectionHandler({"default": site})["default"]
    yield opened
    opened.close()


def asked(connection: Any, sql: str = "SELECT text FROM words") -> list[Any]:
    """What one request reads; Django checks connections before and after each."""
    connection.close_if_unusable_or_obsolete()
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows = [text for (text,) in cursor.fetchall()]
    connection.close_if_unusable_or_obsolete()
    return rows


def test_the_next_request_has_the_same_connection(connection: Any) -> None:
    assert asked(connection) == ["old"]
    first = connection.connection
    assert first is not None
    assert asked(connection) == ["old"]
    assert connection.connection is first


def test_a_replaced_file_is_opened_by_the_next_request(connection: Any, tmp_path: Path) -> None:
    assert asked(connection) == ["old"]
    made(tmp_path / "backup.sqlite3", "new")
    (tmp_path / "backup.sqlite3").replace(tmp_path / "site.sqlite3")
    assert asked(connection) == ["new"]
    asked(connection, "INSERT INTO words VALUES ('answer') RETURNING text")
    with closing(sqlite3.connect(tmp_path / "site.sqlite3")) as database:
        assert database.execute("SELECT text FROM words").fetchall() == [("new",), ("answer",)]


def test_nothing_is_written_to_a_removed_file(connection: Any, tmp_path: Path) -> None:
    assert asked(connection) == ["old"]
    (tmp_path / "site.sqlite3").unlink()
    assert asked(connection, "SELECT name FROM sqlite_master") == []
    assert (tmp_path / "site.sqlite3").exists()


def test_a_connection_in_memory_is_not_closed() -> None:
    memory = {"ENGINE": "crowdgrade.sqlite", "NAME": ":memory:", "CONN_HEALTH_CHECKS": True}
    connection = ConnectionHandler({"default": memory})["default"]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE words (text text)")
    assert asked(connection) == []
    connection.close()


def test_both_databases_keep_connections_and_check_them() -> None:
    database = settings.DATABASES["default"]
    assert (database["CONN_MAX_AGE"], database["CONN_HEALTH_CHECKS"]) == (60, True)
