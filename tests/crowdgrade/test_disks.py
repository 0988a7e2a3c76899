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

from tests.disks import small_disk
from tests.evaluation.background.scratch import Scratch

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


@pytest.mark.long
def test_a_read_only_home_is_named_in_one_sentence(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        disk.seal()
        home = disk.folder / "home"
        told = (
            f"Error: Nothing can be stored in {home} (Read-only file system): let this user write "
            "there, or set CROWDGRADE_HOME to another folder."
        )
        assert said(home, "up", "--port", "8999") == told
        assert said(home, "import_answers", "a set", "README.md") == told
        demo = told.replace("_HOME", "_DEMO_HOME")
        assert said("/nowhere", "demo", "--no-serve", CROWDGRADE_DEMO_HOME=str(home)) == demo


@pytest.mark.long
def test_a_full_disk_is_named_in_one_sentence(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        disk.fill()
        assert said(disk.folder, "migrate") == (
            "Error: There is no room left to store anything (database or disk is full): make room, "
            "and try again."
        )


@pytest.mark.long
def test_a_database_that_is_not_there_is_named_in_one_sentence(tmp_path):
    address = "postgresql://nobody:swordfish@127.0.0.1:1/none"
    words = said(tmp_path, "migrate", DATABASE_URL=address)
    assert words.startswith("Error: The database cannot be reached (")
    assert words.endswith("): see that it runs, and DATABASE_URL.")
    assert "swordfish" not in words


VISIT = """
from django.contrib.auth.models import User
from django.test import Client
client = Client(raise_request_exception=False, headers={"host": "localhost"})
client.cookies["sessionid"] = SESSION
def told(answer):
    page = answer.content.decode()
    sentence = page.partition('<p class="cg-box cg-warn">')[2].partition("</p>")[0]
    return [answer.status_code, " ".join(sentence.split()), "Seen by <the> sea" in page.replace(
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
        assert full["sent"] == [
            507,
            "The disk of the site is full, so what you sent is not stored yet. It is kept in this "
            "page as long as you leave it open: tell whoever runs the site, and send it again "
            "then.",
            True,
        ]
        assert (full["api"]["status"], full["api"]["code"]) == (507, "storage-full")
        assert "make room" in full["api"]["detail"]

        disk.clear()
        disk.seal()
        sealed = visited()
        assert sealed["sent"][0] == 507
        assert sealed["sent"][1].startswith("The site may not write to its disk, so what you sent")
        assert sealed["api"]["code"] == "read-only"
        # SQLite writes beside its file even to read it.
        for seen in (full["read"], sealed["read"]):
            assert seen[0] == 507
            assert seen[1].endswith("nothing that is stored already is lost.")
