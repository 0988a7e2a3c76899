"""An import beside others: they write while it works, and see all of it or nothing."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.annotations.exchange.importing.beside import WHOLE, WORKERS
from tests.conftest import ROOT
from tests.evaluation.runs.background.scratch import Scratch


@pytest.fixture
def site(sqlite_home):
    return Scratch(sqlite_home, None, None)


def run(site, what, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tests.annotations.exchange.importing.beside", what],
        cwd=ROOT, env=site.environment | environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def told(site, what):
    done = run(site, what)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(site, *tables):
    with closing(sqlite3.connect(site.home / "crowdgrade.sqlite3")) as database:
        return [database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables]


NEW = {"n_new": WHOLE, "n_unchanged": 0, "version": 1}
OLD = {"n_new": 0, "n_unchanged": WHOLE, "version": 1}


@pytest.mark.long
def test_others_write_while_rows_are_compared_and_made_ready_and_see_none_of_them(site):
    found = told(site, "writes")
    assert found["reports"] == [NEW, OLD]
    assert found["seen"] == {"first": [0], "second": [WHOLE]}
    assert found["writes"] >= 2 * WHOLE // 100
    # The one statement at the end is what they wait for: of the second import there is none.
    assert (found["whole"], found["kept_out"]) == (WHOLE, [True, True])


@pytest.mark.long
def test_postgresql_lets_others_write_and_point_to_the_set_while_rows_come_in(
    postgres_database, tmp_path
):
    site = Scratch(tmp_path / "home", postgres_database, None)
    found = told(site, "writes")
    assert found["reports"] == [NEW, OLD]
    assert found["seen"] == {"first": [0], "second": [WHOLE]}
    assert found["writes"] >= 2 * WHOLE // 100


@pytest.mark.long
@pytest.mark.parametrize("where", [("_build_row", False, WHOLE // 2), ("insert", True, 1)])
def test_killed_at_any_point_it_leaves_nothing_and_the_file_comes_in_whole_afterwards(site, where):
    done = run(site, "killed", KILLED_AT=json.dumps(where))
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
    stored = ("annotations_response", "annotations_worker", "annotations_submission")
    assert rows_of(site, *stored, "annotations_import", "annotations_question") == [0] * 5
    with closing(sqlite3.connect(site.home / "crowdgrade.sqlite3")) as database:
        assert not database.execute(
            "SELECT * FROM sqlite_master WHERE name LIKE '%ahead%'"
        ).fetchall()
    assert told(site, "again") == NEW
    assert rows_of(site, *stored) == [WHOLE, WORKERS, WORKERS]


@pytest.mark.long
def test_others_may_come_first(site):
    """The same file, other texts, or a next version, all while an import makes its rows ready."""
    found = told(site, "others_first")
    assert found["overtaken"] == {"reports": [OLD, NEW], "whole": WHOLE}
    refused = found["contradicted"]
    assert (refused["total"], refused["whole"]) == (WHOLE, WHOLE)
    assert "worker w0 answered question q0 already" in refused["first"]
    assert "'w0 said 0'), with another text" in refused["first"]
    opened = {"reports": [NEW, NEW | {"version": 2}], "whole": 2 * WHOLE}
    assert found["another_version"] == opened
    assert rows_of(site, "annotations_import") == [1 + 1 + 2]
