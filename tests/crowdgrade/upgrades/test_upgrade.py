"""Databases of commit 072ad221, with two rows in each table, become databases of this version.

`make_database` made them. Both databases must end as a new one does, with every row.
"""

import gzip
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from crowdgrade.upgrades import FIRST, TOO_OLD
from tests.conftest import new_database
from tests.evaluation.runs.background.scratch import ROOT, Scratch

HERE = Path(__file__).parent
N_TABLES = 70
"""Tables of models at 072ad221, without those between two models."""

APPLIED = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
executor = MigrationExecutor(connection)
recorded = executor.recorder.migration_qs.values_list("app", "name")
todo = executor.migration_plan(executor.loader.graph.leaf_nodes())
result = [
    [list(one) for one in recorded],
    [[one.app_label, one.name] for one, _ in todo]]
"""
COUNTS = """
from django.db import connection
result = {}
with connection.cursor() as cursor:
    for name in connection.introspection.table_names(cursor):
        if name.startswith(("annotations_", "evaluation_")):
            cursor.execute(f'SELECT COUNT(*) FROM "{name}"')
            result[name] = cursor.fetchone()[0]
"""
TABLES = """
import re
from django.db import connection
result = {}
with connection.cursor() as cursor:
    look = connection.introspection
    for name in look.table_names(cursor):
        if name.startswith(("annotations_", "evaluation_")):
            columns = look.get_table_description(cursor, name)
            result[name] = {
                # A column that a migration added has another place.
                "columns": sorted(
                    [c.name, str(c.type_code), bool(c.null_ok), c.internal_size, str(c.default)]
                    for c in columns),
                "constraints": sorted(
                    [key, sorted(map(str, value.items()))]
                    for key, value in look.get_constraints(cursor, name).items()),
            }
    if connection.vendor == "sqlite":
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') "
                       "AND sql IS NOT NULL ORDER BY name")
    else:
        cursor.execute("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
                       "WHERE connamespace = 'public'::regnamespace ORDER BY conname")
    # Without casts and brackets: PostgreSQL adds some to a constraint that was dumped and read.
    result["definitions"] = [
        [name, re.sub(r"::[a-z ]+|[][()]", "", sql)] for name, sql in cursor.fetchall()]
"""
DECISIONS = """
from evaluation.models import WorkerVerdict
result = [
    [one.kind, one.worker.external_id, one.question_set.name]
    for one in WorkerVerdict.objects.order_by("pk")]
"""

WITHOUT_DECISIONS = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("DELETE FROM evaluation_workerverdict_applied_in")
    cursor.execute("DELETE FROM evaluation_workerverdict")
result = None
"""


def sql_of(database: str) -> str:
    return gzip.decompress((HERE / f"{database}.sql.gz").read_bytes()).decode()


def site_of_072ad221(folder: Path, address: str | None = None) -> Scratch:
    """An installation with the database of that commit."""
    site = Scratch(folder, address, None)
    if address is None:
        with sqlite3.connect(folder / "crowdgrade.sqlite3") as connection:
            connection.executescript(sql_of("sqlite"))
        connection.close()
    else:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(sql_of("postgres"))
    return site


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def sites(request, tmp_path) -> Iterator[tuple[Scratch, Scratch]]:
    """An installation of 072ad221, and a new one of this version, on one kind of database."""
    if request.param == "sqlite":
        made = Scratch(request.getfixturevalue("sqlite_home"), None, None)
        old = site_of_072ad221(tmp_path / "old")
        yield old, made
        old.close()
        made.close()
        return
    made = Scratch(tmp_path / "new", request.getfixturevalue("postgres_database"), None)
    with new_database() as address:
        old = site_of_072ad221(tmp_path / "old", address)
        yield old, made
        old.close()
        made.close()


@pytest.mark.slow
def test_a_database_of_072ad221_becomes_one_of_this_version_with_its_rows(sites):
    old, new = sites
    before = old.python(COUNTS)
    assert Counter(before.values()) == {2: N_TABLES, 1: 4}  # 1 between two models
    recorded, todo = old.python(APPLIED)
    assert [app for app in FIRST if [app, FIRST[app]] in recorded] == list(FIRST)
    assert not [one for one in todo if one in recorded]
    applied = [*recorded, *todo]

    old.manage("migrate")

    recorded, todo = old.python(APPLIED)
    assert Counter(map(tuple, recorded)) == Counter(map(tuple, applied)), "each of them once"
    assert todo == []
    after = old.python(COUNTS)
    # The two rejections in the log of payments exclude their workers from grades as well.
    added = {"evaluation_workerverdict": 2}
    assert {table: after[table] - n for table, n in before.items() if after[table] != n} == added
    assert old.python(DECISIONS) == [
        ["exclude", "external_id 1", "name 1"],
        ["undo", "external_id 2", "name 2"],
        ["exclude", "external_id 1", "name 1"],
        ["exclude", "external_id 2", "name 2"],
    ]
    assert old.python(TABLES) == new.python(TABLES)
    assert "No changes detected" in old.manage("makemigrations", "--check", "--dry-run")


def refused(site: Scratch, *command: str) -> str:
    """What a command that has to fail writes."""
    ended = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=site.environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    return ended.stderr


PARTS = {
    "some of each app": (
        "DELETE FROM django_migrations WHERE app IN ('annotations', 'evaluation') "
        "AND (name LIKE '0001_squashed%' OR name > '0017')",
        "annotations",
        "0016_invitations_to_all",
    ),
    "all of one app and some of the other": (
        "DELETE FROM django_migrations WHERE app = 'evaluation' "
        "AND (name LIKE '0001_squashed%' OR name > '0025')",
        "evaluation",
        "0024_verdicts_together",
    ),
    "all but the one that replaced them": (
        "DELETE FROM django_migrations WHERE app = 'evaluation' "
        "AND (name LIKE '0001_squashed%' OR name > '0029')",
        "evaluation",
        "0028_settled_by_a_third",
    ),
}


COMMANDS = [("migrate", "--verbosity=0"), ("migrate", "evaluation", "-v0"), ("up", "--port=0")]


@pytest.mark.slow
@pytest.mark.parametrize(("part", "command"), [*zip(PARTS, COMMANDS, strict=True)], ids=PARTS)
def test_a_database_with_some_of_the_replaced_migrations_is_refused_unchanged(
    tmp_path, part, command
):
    statement, app, last = PARTS[part]
    site = site_of_072ad221(tmp_path)
    (path,) = tmp_path.glob("*.sqlite3")
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
        connection.commit()
        before = list(connection.iterdump())
        said = refused(site, *command)
        assert said.strip() == "CommandError: " + TOO_OLD.format(
            app=app, last=last, first=FIRST[app], commit="072ad221"
        )
        assert list(connection.iterdump()) == before
    connection.close()


@pytest.mark.long
def test_on_postgresql_it_is_refused_unchanged_as_well(tmp_path):
    statement, app, last = PARTS["some of each app"]
    with new_database() as address:
        site = site_of_072ad221(tmp_path, address)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)
        before = [site.python(TABLES), site.python(COUNTS)]
        said = refused(site, "migrate", "--verbosity=0")
        assert TOO_OLD.format(app=app, last=last, first=FIRST[app], commit="072ad221") in said
        assert [site.python(TABLES), site.python(COUNTS)] == before
        site.close()


@pytest.mark.long
def test_an_app_that_was_migrated_back_to_nothing_starts_anew(tmp_path):
    site = site_of_072ad221(tmp_path)
    try:
        # A decision without a run cannot go back.
        site.python(WITHOUT_DECISIONS)
        site.manage("migrate", "evaluation", "zero", "-v0")
        assert not [name for name in site.python(COUNTS) if name.startswith("evaluation")]
        site.manage("migrate", "-v0")
        assert site.python(COUNTS)["evaluation_run"] == 0
    finally:
        site.close()
