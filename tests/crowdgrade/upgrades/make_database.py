"""Make the databases that `test_upgrade.py` upgrades: two rows in each table, as compressed SQL.

Run in a checkout of the commit whose databases are wanted, with this file copied there:

    python -m tests.crowdgrade.upgrades.make_database FOLDER

FOLDER receives `sqlite.sql.gz` and, if the PostgreSQL of DATABASE_URL answers, `postgres.sql.gz`.
The stored ones are of commit 072ad221.
"""

import gzip
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import new_database
from tests.evaluation.runs.background.scratch import Scratch

ROWS = '''
import datetime, decimal, itertools, math, uuid
from unittest import mock
from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

TIME = datetime.datetime(2026, 11, 26, 12, 0, tzinfo=datetime.timezone.utc)
ids = (uuid.UUID(int=n) for n in itertools.count(1))
AS_DECLARED = object()
FIELDS = {  # by model: a value for both rows, or a tuple of both; of a reference the row's number
    "annotations.Submission": {"device": "phone"},
    "annotations.Decision": {"kind": "reject", "reason": "copied"},
    "annotations.Response": {"signals": "off", "status": "text"},
    "annotations.Question": {"passage": (None, 2)},
    "annotations.Translation": {"passage": (1, None), "question": (None, 2)},
    "annotations.Upload": {"file": "", "checked": ""},
    "evaluation.AnswerFact": {"response": (1, None), "llm_response": (None, 2)},
    "evaluation.AuditItem": {"response": (1, None), "llm_response": (None, 2)},
    "evaluation.DrawPart": {"n_draws": 1, "n_workers": 2},
    "evaluation.Embedding": {"dimension": 4, "text_hash": (bytes(32), bytes(range(32)))},
    "evaluation.HumanJudgement": {
        "response": (1, None), "llm_response": None, "exhibit": (None, 2), "label": "good"},
    "evaluation.JudgementRequest": {
        "response": (1, None), "llm_response": None, "exhibit": (None, 2)},
    "evaluation.LLMComparison": {"model_a": 1, "model_b": 2},
    "evaluation.WorkerVerdict": {
        "kind": ("exclude", "undo"), "category": "copied", "takes_back": (None, 1)},
}


def value(field, number, model):
    """Return the value of a field in the row of this number (1 or 2)."""
    found = FIELDS.get(model._meta.label, {}).get(field.name, AS_DECLARED)
    if isinstance(found, tuple):
        found = found[number - 1]
    if field.remote_field is not None:
        rows = field.remote_field.model._base_manager.order_by("pk")
        if found is AS_DECLARED:
            # The second row alone has the references that a row may lack.
            found = number if not field.null else None if number == 1 else 1
        return rows[found - 1] if found and found <= len(rows) else None
    if found is not AS_DECLARED:
        return found
    kind = field.get_internal_type()
    if kind == "UUIDField":
        return None if field.null else next(ids)
    if field.null:
        return None
    if field.has_default() and kind != "JSONField" and not field.unique:
        return field.get_default()
    if field.choices:
        return next(key for key, label in field.flatchoices if key)
    return {
        "CharField": lambda: f"{field.name} {number}"[: field.max_length],
        "TextField": lambda: f"{field.name} {number} \\u00e9 'quoted'",
        "JSONField": lambda: field.get_default() if field.has_default() else {"row": number},
        "BooleanField": lambda: False,
        "DateTimeField": lambda: TIME,
        "FloatField": lambda: number / 8,
        "DecimalField": lambda: decimal.Decimal(number),
        "BinaryField": lambda: bytes(range(16)),
        "URLField": lambda: f"https://example.org/{number}",
    }.get(kind, lambda: number)()


def parents(model):
    return {
        field.remote_field.model
        for field in model._meta.fields
        if field.remote_field is not None
        and (not field.null or field.name in FIELDS.get(model._meta.label, {}))
        and field.remote_field.model is not model
    }


models = [m for app in ("annotations", "evaluation") for m in apps.get_app_config(app).get_models()]
with mock.patch.object(timezone, "now", lambda: TIME):
    for name in ("rana", "otto"):
        User.objects.create(username=name, password="!", date_joined=TIME)
    waiting = list(models)
    while waiting:
        model = next(model for model in waiting if not parents(model) & set(waiting))
        waiting.remove(model)
        for number in (1, 2):
            row = {
                field.name: value(field, number, model)
                for field in model._meta.fields
                if field.remote_field is not None or not field.primary_key
            }
            model._base_manager.bulk_create([model(**row)])
    for model in models:
        for field in model._meta.many_to_many:
            other = field.remote_field.model._base_manager.order_by("pk").first()
            getattr(model._base_manager.order_by("pk").first(), field.name).add(other)
result = len(models)
'''


def sql_of_sqlite(folder: Path) -> str:
    """Return the statements that make a new database on SQLite, with the rows."""
    site = Scratch(folder, None, None)
    fill(site)
    (path,) = folder.glob("*.sqlite3")
    with sqlite3.connect(path) as connection:
        return "\n".join(connection.iterdump())


def sql_of_postgres(folder: Path) -> str:
    """Return the statements that make a new database on PostgreSQL, with the rows."""
    with new_database() as address:
        fill(Scratch(folder, address, None))
        dumped = subprocess.run(
            ["pg_dump", "--inserts", "--no-owner", "--no-privileges", address],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    # Commands of psql, and a setting that PostgreSQL 16 and older do not know.
    left_out = ("\\", "--", "SET transaction_timeout")
    return "\n".join(line for line in dumped.splitlines() if not line.startswith(left_out))


def fill(site: Scratch) -> None:
    """Make the tables of an installation and two rows in each."""
    try:
        site.manage("migrate", "--verbosity=0")
        site.python(ROWS)
    finally:
        site.close()


def main(target: Path) -> None:
    """Write the compressed SQL of both databases into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, sql_of in (("sqlite", sql_of_sqlite), ("postgres", sql_of_postgres)):
            try:
                text = sql_of(Path(folder) / name)
            except pytest.skip.Exception as reason:
                sys.stderr.write(f"{name} left out: {reason}\n")
                continue
            # The time of making is left out, so that the same rows give the same file.
            (target / f"{name}.sql.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
