"""A busy database: a page that tries again, and what was typed is not lost."""

import re
import sqlite3
from html import unescape

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client

from crowdgrade.rest.busy import is_busy


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


BUSY, LOCKED, BUSY_SNAPSHOT, FULL, READ_ONLY = 5, 6, 5 | 2 << 8, 13, 8


def test_only_what_will_pass_is_busy():
    assert all(is_busy(sqlite_error(code)) for code in (BUSY, LOCKED, BUSY_SNAPSHOT))
    assert not any(is_busy(sqlite_error(code)) for code in (FULL, READ_ONLY))
    assert is_busy(postgres_error(psycopg.errors.LockNotAvailable))
    assert is_busy(postgres_error(psycopg.errors.DeadlockDetected))
    assert not is_busy(postgres_error(psycopg.errors.DiskFull))
    assert not is_busy(postgres_error(psycopg.errors.UndefinedTable))
    assert not is_busy(OperationalError("no cause"))
    assert not is_busy(ValueError("database is locked"))
    assert not is_busy(None)


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
    assert "is not stored yet" in page
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

    monkeypatch.setattr(question_sets, "editable", refuse, raising=False)
    (tmp_path / "a.csv").write_text("worker,question,answer\n")
    with connection.execute_wrapper(refuse), (tmp_path / "a.csv").open() as file:
        said = client.post("/admin/question-sets/new/", {"name": "x", "file": file})
    assert said.status_code == 503
    assert "send it again in a moment" in said.content.decode()
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
