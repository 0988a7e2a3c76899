"""200 threads race for the last 10 places: exactly 10 get one, on both databases."""

import json
import os
import subprocess
import sys
import uuid

import psycopg
import pytest

from tests.conftest import ROOT
from tests.services import address_of

pytestmark = pytest.mark.alone


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """The address of an empty database that is gone afterwards."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'race.sqlite3'}"
        return
    url = address_of("DATABASE_URL")
    name = f"race_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield f"{url.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def raced(database, tmp_path, places, each):
    environment = os.environ | {"DATABASE_URL": database, "CROWDGRADE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotations.answering.race", str(places), str(each)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_200_threads_get_exactly_the_last_10_places(database, tmp_path):
    got = raced(database, tmp_path, 10, 0)
    assert got["submissions"] == 10
    assert set(got["said"]) == {"place", "full"}
    # 10 people, some of them with two windows, which is told "place" twice.
    assert got["said"]["place"] >= 10
    assert got["questions"] == {f"q{number}": 10 for number in range(4)}


def test_no_question_gets_more_answers_than_wanted(database, tmp_path):
    """4 questions x 7 answers on 100 places: 28 wanted / 100 is 1 each, so 28 people get in."""
    got = raced(database, tmp_path, 100, 7)
    assert got["questions"] == {f"q{number}": 7 for number in range(4)}
    assert got["submissions"] == 28
