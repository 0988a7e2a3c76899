"""A backup of a site at work becomes an equal site in an empty installation, on both databases."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.conftest import new_database
from tests.evaluation.runs.background.scratch import ROOT, Scratch

UPLOAD = """
from django.core.files.base import ContentFile
from annotations.models import QuestionSet, Upload
of = QuestionSet.objects.get()
row = Upload(owner=of.owner, question_set=of, kind="answers", name="a.csv", state="checked")
row.file.save("", ContentFile(b"worker,q1\\nann,yes\\n"), save=False)
row.save()
result = row.file.name
"""
CONTENT = """
from annotations.models import Upload
result = Upload.objects.get().open_file().read().decode()
"""
COUNTS = """
from django.db import connection
with connection.cursor() as cursor:
    every = connection.introspection.table_names(cursor)
    names = [name for name in every if not name.startswith("sqlite_")]
    result = {}
    for name in names:
        cursor.execute(f'SELECT COUNT(*) FROM "{name}"')
        result[name] = cursor.fetchone()[0]
"""
GRADE = """
from evaluation.models import Run, WorkerGrade
from evaluation.runs.background.work import work_one_turn
work_one_turn()
run = Run.objects.get(pk=RUN)
rows = WorkerGrade.objects.filter(run=run).order_by("worker__external_id")
result = [run.state, run.error, [[row.worker.external_id, row.grade, row.raw] for row in rows]]
"""
GRADES = """
from evaluation.models import Run, WorkerGrade
rows = WorkerGrade.objects.filter(run=RUN).order_by("worker__external_id")
result = [[row.worker.external_id, row.grade, row.raw] for row in rows]
"""
ERASE = """
from annotations.models import Worker
from django.utils.timezone import now
from evaluation.deletion.storage.erasing import request_erasure
from evaluation.models import Run
# Erasures wait for runs that read the answers.
Run.objects.update(state="cancelled", finished_at=now())
worker = Worker.objects.get(external_id="w1")
request_erasure(worker, worker.owner_id)
result = str(worker.public_id)
"""
ERASED = """
from evaluation.models import Removal
from evaluation.deletion.storage.removals import work_on_oldest_deletion
from django.utils.timezone import now
from annotations.models import Response, Worker
from evaluation.models import Run
Run.objects.filter(finished_at=None).update(state="cancelled", finished_at=now())
for _ in range(60):
    if not Removal.objects.filter(finished_at=None).exists():
        break
    work_on_oldest_deletion()
rows = Response.objects.filter(submission__worker__external_id="w1")
result = [Worker.objects.get(external_id="w1").erased_at is not None, rows.count()]
"""
SIGN = "from django.core.signing import dumps; result = dumps('x')"
READ = "from django.core.signing import loads; result = loads(SIGNED)"
WRITE = """
from annotations.models import Worker
from django.contrib.auth.models import User
owner = User.objects.get()
for i in range(N):
    Worker.objects.create(owner=owner, external_id=f"late-{i}")
result = N
"""


def run(site: Scratch, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=site.environment,
        input=input,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def pair(request, tmp_path):
    """A migrated installation, and an empty one on the same kind of database."""
    if request.param == "sqlite":
        home = request.getfixturevalue("sqlite_home")
        sites = [Scratch(home, None, None), Scratch(tmp_path / "other", None, None)]
        yield sites
    else:
        if shutil.which("pg_dump") is None:
            pytest.skip("no pg_dump on this machine (apt-get install postgresql-client)")
        full = request.getfixturevalue("postgres_database")
        with new_database() as empty:
            sites = [
                Scratch(tmp_path / "home", full, None),
                Scratch(tmp_path / "other", empty, None),
            ]
            yield sites
            for site in sites:
                site.close()
            return
    for site in sites:
        site.close()


@pytest.mark.slow
def test_a_backup_of_a_site_at_work_restores_rows_uploads_key_and_a_grading(pair, tmp_path):
    site, other = pair
    run_id = site.seed("tfidf-char", workers=6, questions=4)
    state, error, grades = site.python(GRADE, RUN=run_id)
    assert (state, error, len(grades)) == ("done", "", 6)
    name, signed = site.python(UPLOAD), site.python(SIGN)
    before = site.python(COUNTS)

    # Another process writes from before the backup until after it.
    console = Scratch(site.home, site.environment["DATABASE_URL"] or None, None)
    writer = threading.Thread(target=console.python, args=(WRITE,), kwargs={"N": 300})
    writer.start()
    folder = tmp_path / "backups"
    folder.mkdir()
    made = run(site, "backup", str(folder))
    writer.join()
    console.close()
    assert made.returncode == 0, made.stderr
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    with tarfile.open(path) as archive:
        names = archive.getnames()
        manifest = json.load(archive.extractfile("manifest.json"))
    assert names[0] == "manifest.json"
    assert set(names[1:]) == set(manifest["files"])
    assert f"uploads/{name}" in names
    late = manifest["counts"].pop("annotations_worker") - before.pop("annotations_worker")
    assert 0 <= late <= 300
    assert manifest["counts"] == before

    restored = run(other, "restore", str(path))
    assert restored.returncode == 0, restored.stderr
    assert "SECRET_KEY" not in restored.stdout
    found = other.python(COUNTS)
    assert found.pop("annotations_worker") == 6 + late
    assert found == before
    assert other.python(GRADES, RUN=run_id) == grades
    again = other.seed_again(run_id)
    state, error, regraded = other.python(GRADE, RUN=again)
    assert (state, error) == ("done", "")
    assert regraded == grades
    assert other.python(CONTENT) == "worker,q1\nann,yes\n"
    assert other.python(READ, SIGNED=signed) == "x"
    assert (other.home / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [one.name for one in other.home.iterdir() if one.name.startswith(".")] == []


@pytest.mark.slow
def test_data_is_replaced_only_on_request_and_its_erasures_are_repeated(pair, tmp_path):
    site, _ = pair
    site.seed("tfidf-char", workers=3, questions=2)
    path = tmp_path / "first.tar.gz"
    assert run(site, "backup", str(path)).returncode == 0
    site.python(ERASE)
    assert site.python(ERASED) == [True, 0]
    upload = site.home / "uploads" / site.python(UPLOAD)
    foreign = upload.with_name("notes.txt")
    foreign.write_text("of another program")
    assert upload.exists()
    rows = site.python(COUNTS)
    site.close()

    refused = run(site, "restore", str(path))
    assert (refused.returncode, "--replace" in refused.stderr) == (2, True)
    for answer in ("yes\n", ""):
        unsure = run(site, "restore", str(path), "--replace", input=answer)
        assert unsure.returncode == 1, unsure.stderr
    assert site.python(COUNTS) == rows
    site.close()

    # The key of the environment is not the backup's: what it signed stays invalid.
    site.environment["SECRET_KEY"] = "a key of the environment, and of no backup"
    restored = run(site, "restore", str(path), "--replace", input="replace\n")
    assert restored.returncode == 0, restored.stderr
    assert "SECRET_KEY" in restored.stdout
    # No row refers to the file any more, so nothing else would delete it.
    assert (upload.exists(), foreign.exists()) == (False, True)
    # w1 had answered both questions in the backup, and is erased in the restored site.
    assert site.python(ERASED) == [True, 0]


@pytest.mark.slow
def test_a_site_in_use_is_not_replaced(pair, tmp_path):
    site, _ = pair
    site.seed("tfidf-char", workers=2, questions=1)
    path = tmp_path / "first.tar.gz"
    assert run(site, "backup", str(path)).returncode == 0
    url = site.environment["DATABASE_URL"]
    file = site.home / "crowdgrade.sqlite3"
    site.close()
    connect = (lambda: psycopg.connect(url)) if url else (lambda: sqlite3.connect(file))
    with closing(connect()) as other:
        other.execute("SELECT count(*) FROM annotations_worker").fetchone()
        refused = run(site, "restore", str(path), "--replace", "--no-input")
        assert refused.returncode == 1
        assert other.execute("SELECT count(*) FROM annotations_worker").fetchone() == (2,)


@pytest.mark.slow
def test_a_database_with_tables_of_other_programs_is_left_alone(pair, tmp_path):
    site, other = pair
    path = tmp_path / "first.tar.gz"
    assert run(site, "backup", str(path)).returncode == 0
    url = other.environment["DATABASE_URL"]
    file = other.home / "crowdgrade.sqlite3"
    with closing(psycopg.connect(url) if url else sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE ledger (x integer)")
        database.commit()
    refused = run(other, "restore", str(path), "--replace", "--no-input")
    assert (refused.returncode, "ledger" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_failed_pg_dump_leaves_no_file_and_says_why(postgres_database, tmp_path):
    parts = urlsplit(postgres_database)
    gone = urlunsplit(parts._replace(path="/test_no_such_database"))
    site = Scratch(tmp_path / "home", gone, None)
    folder = Path(tmp_path / "backups")
    folder.mkdir()
    failed = run(site, "backup", str(folder))
    assert failed.returncode == 1
    assert list(folder.iterdir()) == []
    assert "test_no_such_database" in failed.stderr
    # Without the programs.
    site = Scratch(tmp_path / "home", postgres_database, None)
    site.environment["PATH"] = str(tmp_path)
    failed = run(site, "backup", str(folder))
    assert (failed.returncode, list(folder.iterdir())) == (1, [])
    assert "pg_dump" in failed.stderr
