"""A whole installation whose disk is full, or may not be written to: told in a sentence."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection

from crowdgrade.outages import DEMO_SEALED, SENTENCES
from tests.disks import small_disk
from tests.evaluation.runs.background.scratch import Scratch

ROOT = Path(__file__).resolve().parents[2]


def said(home, *arguments, **more):
    """What a command says that fails, without its first word."""
    outside = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "SECRET_KEY")}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**outside, "CROWDGRADE_HOME": str(home), **more},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr.strip()


def error(code, reason, home=""):
    """What a command says of an outage."""
    return f"Error: {SENTENCES[code].format(reason=reason, home=home)}"


@pytest.mark.long
def test_a_read_only_home_is_named_in_one_sentence(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        disk.seal()
        home = disk.folder / "home"
        told = error("read-only", "Read-only file system", home)
        assert said(home, "up", "--port", "8999") == told
        assert said(home, "import_answers", "a set", "README.md") == told
        demo = error(DEMO_SEALED, "Read-only file system", home)
        assert said("/nowhere", "demo", "--no-serve", CROWDGRADE_DEMO_HOME=str(home)) == demo


@pytest.mark.long
def test_a_full_disk_is_named_in_one_sentence(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        disk.fill()
        assert said(disk.folder, "migrate") == error("storage-full", "database or disk is full")


@pytest.mark.long
def test_a_database_that_is_not_there_is_named_in_one_sentence(tmp_path):
    address = "postgresql://nobody:swordfish@127.0.0.1:1/none"
    words = said(tmp_path, "migrate", DATABASE_URL=address)
    begin, end = error("database-lost", "REASON").split("REASON")
    assert words.startswith(begin)
    assert words.endswith(end)
    assert "swordfish" not in words


VISIT = """
import re
from django.contrib.auth.models import User
from django.test import Client
client = Client(raise_request_exception=False, headers={"host": "localhost"})
client.cookies["sessionid"] = SESSION
def told(answer):
    page = answer.content.decode()
    codes = re.findall('data-outage="([^"]+)" data-state="([^"]+)"', page)
    return [answer.status_code, *codes, "Seen by <the> sea" in page.replace(
        "&lt;", "<").replace("&gt;", ">")]
result = {
    "read": told(client.get("/admin/question-sets/")),
    "sent": told(client.post("/admin/question-sets/new/", NEW)),
    "api": client.post("/api/v1/question-sets/", {"name": "rivers"}, "application/json").json(),
}
"""


@pytest.mark.long
@pytest.mark.skipif("connection.vendor != 'sqlite'")
@pytest.mark.django_db(transaction=True)
def test_pages_say_that_the_disk_is_full_or_sealed_and_keep_what_was_typed(tmp_path, client):
    client.force_login(User.objects.create_user("rana", is_staff=True))
    with small_disk(tmp_path / "home", megabytes=8) as disk:
        site = Scratch(disk.folder, None, None)
        site.environment["SECRET_KEY"] = "a key that only the tests use, and nobody else"
        with closing(sqlite3.connect(disk.folder / "crowdgrade.sqlite3")) as copy:
            connection.connection.backup(copy)
        # A reader needs the files beside the database, which a first one makes.
        names = {"SESSION": client.session.session_key, "NEW": {}}

        def visited():
            # By a new process each time: a file that it has open keeps a disk from being sealed.
            with closing(site):
                return site.python(VISIT, **names)

        assert visited()["read"][0] == 200
        names["NEW"] = {"name": "Seen by <the> sea", "description": ""}

        disk.fill()
        full = visited()
        assert full["sent"] == [507, ["storage-full", "not_stored"], True]
        assert (full["api"]["status"], full["api"]["code"]) == (507, "storage-full")

        disk.clear()
        disk.seal()
        sealed = visited()
        assert sealed["sent"] == [507, ["read-only", "not_stored"], True]
        assert sealed["api"]["code"] == "read-only"
        # SQLite writes beside its file even to read it.
        for outage, seen in (("storage-full", full["read"]), ("read-only", sealed["read"])):
            assert seen == [507, [outage, "not_shown"], False]
