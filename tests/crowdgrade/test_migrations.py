"""One migration an app makes a new database; what has some of the earlier ones goes on by these."""

import sqlite3

import pytest

from tests.evaluation.background.scratch import Scratch

ONE_BY_ONE = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
executor = MigrationExecutor(connection)
executor.loader = MigrationLoader(connection, replace_migrations=False)
executor.migrate(
    [one.replaces[-1] for one in executor.loader.disk_migrations.values() if one.replaces])
result = [name for app, name in executor.recorder.applied_migrations() if app == "evaluation"]
"""


def tables(site: Scratch) -> dict[str, object]:
    """Columns, constraints and indexes of every table of ours."""
    (path,) = site.home.glob("*.sqlite3")
    with sqlite3.connect(path) as connection:
        made = dict(
            connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table' "
                "AND (name LIKE 'annotations%' OR name LIKE 'evaluation%')"
            )
        )
        found: dict[str, object] = {}
        for name, sql in made.items():
            columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
            # Type, whether it may be empty, and the key; added columns stand elsewhere.
            found[name] = sorted((row[1], row[2], row[3], row[5]) for row in columns)
            found[f"{name} constraints"] = sorted(
                part.split('"')[1] for part in sql.split(" CONSTRAINT ")[1:]
            )
        found["indexes"] = sorted(
            connection.execute(
                "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'index' "
                "AND sql IS NOT NULL"
            )
        )
    return found


@pytest.mark.long
def test_a_database_of_earlier_migrations_has_the_same_tables_as_a_new_one(tmp_path):
    new, old = (Scratch(tmp_path / name, None, None) for name in ("new", "old"))
    try:
        said = new.manage("migrate")
        assert "annotations.0001_squashed" in said
        assert "annotations.0002" not in said
        applied = old.python(ONE_BY_ONE)
        assert any(name.startswith("0028") for name in applied)
        said = old.manage("migrate")
        assert "annotations.0031_groups_on_a_panel" in said
        assert "squashed" not in said
        assert tables(old) == tables(new)
        assert len(tables(new)) > 100
    finally:
        old.close()
