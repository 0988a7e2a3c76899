"""PostgreSQL ends connections: a page that only reads is made again, a change is told."""

import itertools
import re

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import close_old_connections, connection, connections
from django.test import Client

from annotations.models import QuestionSet
from crowdgrade.models.tokens import create_token

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs DATABASE_URL"),
]
NEW = {"name": "Rivers of the north", "description": ""}


def terminate_others():
    """End every connection to the database but the one that says so, as an operator would."""
    given = connection.get_connection_params()
    names = {"host", "port", "user", "password", "dbname"} & given.keys()
    with psycopg.connect(**{name: given[name] for name in names}, autocommit=True) as operator:
        operator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def terminated_at():
    """Return a manager in which the connection ends before the n-th statement; 0: before each."""

    def at(number):
        counted = itertools.count(1)

        def end(execute, sql, parameters, many, context):
            if number in (0, next(counted)):
                terminate_others()
            return execute(sql, parameters, many, context)

        return connection.execute_wrapper(end)

    return at


@pytest.fixture(autouse=True)
def _connected_again():
    """What clears up after a test needs a connection that lives."""
    yield
    connections.close_all()


def a_new_request_begins():
    """What Django does at the beginning of each request, and its test client leaves out."""
    close_old_connections()


@pytest.fixture
def client():
    rana = User.objects.create_user("rana", is_staff=True)
    QuestionSet.objects.create(owner=rana, name="Rivers")
    client = Client(raise_request_exception=False)
    client.force_login(rana)
    return client


def test_a_page_that_reads_does_not_notice_wherever_the_connection_ends(client, terminated_at):
    for number in range(1, 7):
        with terminated_at(number):
            said = client.get("/admin/question-sets/")
        assert (number, said.status_code) == (number, 200)
        assert "Rivers" in said.content.decode()


def test_a_connection_that_ended_between_two_requests_is_not_noticed(client):
    assert client.get("/admin/question-sets/").status_code == 200
    terminate_others()
    a_new_request_begins()
    assert client.post("/admin/question-sets/new/", NEW).status_code == 302


def test_the_api_reads_again_too(client, terminated_at):
    _, token = create_token(User.objects.get(), "a test", None)
    asking = {"authorization": f"Bearer {token}"}
    for number in range(1, 5):
        with terminated_at(number):
            said = client.get("/api/v1/question-sets/", headers=asking)
        assert (number, said.status_code) == (number, 200)
        assert [one["name"] for one in said.json()["results"]] == ["Rivers"]


def test_a_server_that_stays_away_is_told_after_the_second_attempt(client, terminated_at):
    with terminated_at(0):
        said = client.get("/admin/question-sets/")
    page = said.content.decode()
    assert (said.status_code, said["Retry-After"]) == (503, "5")
    assert 'data-outage="database-lost" data-state="not_shown"' in page
    assert 'http-equiv="refresh"' in page


def test_a_change_is_not_repeated_and_what_was_typed_stays(client, terminated_at):
    statements = []

    def listen(execute, sql, parameters, many, context):
        if "question" in sql and sql.startswith("INSERT"):
            statements.append(sql)
            terminate_others()
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(listen):
        said = client.post("/admin/question-sets/new/", NEW)
    page = said.content.decode()
    assert (said.status_code, len(statements)) == (503, 1)
    assert 'data-outage="database-lost" data-state="unknown"' in page
    kept = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
    assert kept["name"] == NEW["name"]
    assert "Look first" in page
    connections.close_all()
    assert QuestionSet.objects.count() == 1


def test_the_api_says_that_a_change_may_or_may_not_be_stored(client, terminated_at):
    with terminated_at(0):
        said = client.post("/api/v1/question-sets/", {"name": "x"}, "application/json")
    body = said.json()
    assert (said.status_code, body["code"]) == (503, "database-lost")
    assert said["Retry-After"] == "5"
