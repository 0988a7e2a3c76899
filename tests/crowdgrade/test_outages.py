"""A database that is busy or gone, a disk that is full: told, and what was typed is not lost."""

import errno
import os
import re
import sqlite3
import subprocess
import sys
from html import unescape
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client

from crowdgrade import outages
from crowdgrade.outages import BEHIND, SENTENCES, Outage, describe_outage, find_outage


def sqlite_error(code):
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorcode = code
    error = OperationalError("database is locked")
    error.__cause__ = cause
    return error


def postgres_error(kind):
    error = OperationalError("no")
    error.__cause__ = kind("no")
    return error


BUSY, LOCKED, BUSY_SNAPSHOT, FULL, READ_ONLY, FAILED = 5, 6, 5 | 2 << 8, 13, 8, 10
HOME = Path(settings.HOME)


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        *((sqlite_error(code), Outage.BUSY) for code in (BUSY, LOCKED, BUSY_SNAPSHOT)),
        (sqlite_error(FULL), Outage.FULL),
        (sqlite_error(FULL).__cause__, Outage.FULL),  # of a file that an import waits in
        (sqlite_error(READ_ONLY), Outage.SEALED),
        (sqlite_error(FAILED), None),  # the disk is not full: it may be broken
        (postgres_error(psycopg.errors.LockNotAvailable), Outage.BUSY),
        (postgres_error(psycopg.errors.DeadlockDetected), Outage.BUSY),
        (postgres_error(psycopg.errors.DiskFull), Outage.FULL),
        (postgres_error(psycopg.errors.AdminShutdown), Outage.LOST),
        (postgres_error(psycopg.OperationalError), Outage.LOST),
        (postgres_error(psycopg.errors.UndefinedTable), None),
        (postgres_error(psycopg.errors.QueryCanceled), None),
        (OSError(errno.ENOSPC, "No space left on device"), Outage.FULL),
        (PermissionError(errno.EACCES, "Permission denied", str(HOME / "x")), Outage.SEALED),
        (PermissionError(errno.EACCES, "Permission denied", str(HOME.parent)), Outage.SEALED),
        (PermissionError(errno.EACCES, "Permission denied", "/etc/shadow"), None),
        (FileNotFoundError(errno.ENOENT, "No such file", str(HOME / "x")), None),
        (OperationalError("no cause"), None),
        (ValueError("database is locked"), None),
        (None, None),
    ],
)
def test_each_error_is_the_sign_of_one_outage_or_of_none(db, monkeypatch, error, outage):
    monkeypatch.setattr(outages.MigrationExecutor, "migration_plan", lambda *_: [])
    assert find_outage(error) is outage
    assert (describe_outage(error) is None) == (outage is None)


@pytest.mark.parametrize(
    "cause",
    [
        sqlite3.OperationalError("no such table: auth_user"),
        sqlite3.OperationalError("table annotations_submission has no column named device"),
        psycopg.errors.UndefinedTable('relation "auth_user" does not exist'),
        psycopg.errors.UndefinedColumn("column x does not exist"),
    ],
)
@pytest.mark.parametrize("left", [[("annotations", "0001_initial")], []])
def test_a_database_whose_migrations_were_not_run_is_told_to_run_them(db, monkeypatch, cause, left):
    monkeypatch.setattr(outages.MigrationExecutor, "migration_plan", lambda *_: left)
    error = OperationalError(str(cause))
    error.__cause__ = cause
    said = describe_outage(error)
    # With every migration run it is a defect, and the whole story of it is wanted.
    assert said == (SENTENCES[BEHIND].format(reason=cause) if left else None)


@pytest.mark.long
def test_a_command_on_an_empty_database_says_what_to_run_and_shows_no_traceback(tmp_path):
    ended = subprocess.run(
        [sys.executable, "manage.py", "decide", "Rivers", "--file", "x.csv", "--by", "rana"],
        cwd=settings.ROOT,
        env={**os.environ, "CROWDGRADE_HOME": str(tmp_path), "DATABASE_URL": ""},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    begin, end = SENTENCES[BEHIND].split("{reason}")
    assert ended.stderr.startswith(f"Error: {begin}")
    assert ended.stderr.strip().endswith(end)
    assert "Traceback" not in ended.stderr


def test_an_error_of_a_disk_that_is_full_says_so_where_sqlite_only_says_that_it_failed(
    monkeypatch,
):
    monkeypatch.setattr(outages, "LEAST_FREE", 1 << 60)
    assert find_outage(sqlite_error(FAILED)) is Outage.FULL


@pytest.fixture
def busy_writes():
    """Every statement that writes finds the database taken by somebody else."""

    def refuse(execute, sql, parameters, many, context):
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            raise sqlite_error(BUSY)
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(refuse):
        yield


@pytest.fixture
def client(db):
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_user("rana", is_staff=True))
    return client


def test_what_was_typed_comes_back_in_a_form_that_sends_it_again(client, busy_writes):
    text = 'Rivers of the "north" & south'
    said = client.post("/admin/question-sets/new/", {"name": text, "description": "two\nlines <b>"})
    assert (said.status_code, said["Retry-After"]) == (503, "5")
    page = said.content.decode()
    assert 'data-outage="busy" data-state="not_stored"' in page
    kept = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page, re.DOTALL))
    assert unescape(kept["name"]) == text
    assert unescape(kept["description"]) == "two\nlines <b>"
    assert 'action="/admin/question-sets/new/"' in page
    assert "<b>" not in page
    assert 'http-equiv="refresh"' not in page  # what was typed does not go away by itself


def test_a_page_that_only_reads_tries_again_by_itself(client, monkeypatch):
    def refuse(*_):
        raise sqlite_error(BUSY)

    with connection.execute_wrapper(refuse):
        said = client.get("/admin/question-sets/?page=2")
    assert (said.status_code, said["Retry-After"]) == (503, "5")
    assert '<meta http-equiv="refresh" content="5">' in said.content.decode()
    assert 'href="/admin/question-sets/?page=2"' in said.content.decode()


def test_a_password_does_not_go_into_the_page(db, busy_writes):
    said = Client(raise_request_exception=False).post(
        "/admin/login/", {"username": "rana", "password": "a long secret"}
    )
    page = said.content.decode()
    assert said.status_code == 503
    assert "secret" not in page
    assert 'type="password" name="password" required' in page
    assert 'name="username" value="rana"' in page


def test_a_file_is_asked_for_again(client, tmp_path, monkeypatch):
    from annotations.desk import question_sets

    def refuse(*_):
        raise sqlite_error(BUSY)

    monkeypatch.setattr(question_sets, "get_editable", refuse, raising=False)
    (tmp_path / "a.csv").write_text("worker,question,answer\n")
    with connection.execute_wrapper(refuse), (tmp_path / "a.csv").open() as file:
        said = client.post("/admin/question-sets/new/", {"name": "x", "file": file})
    assert said.status_code == 503
    assert 'data-outage="busy" data-state="file_not_taken"' in said.content.decode()
    assert 'type="hidden"' not in said.content.decode()


def test_the_api_says_it_in_its_own_form(client, busy_writes):
    said = client.post(
        "/api/v1/question-sets/", {"name": "rivers"}, content_type="application/json"
    )
    assert (said.status_code, said["Retry-After"]) == (503, "5")
    assert said.json()["code"] == "busy"


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_the_log_of_sqlite_is_cut_back_after_a_large_transaction(db):
    with connection.cursor() as cursor:
        (limit,) = cursor.execute("PRAGMA journal_size_limit").fetchone()
    assert limit == 64 * 1024 * 1024
