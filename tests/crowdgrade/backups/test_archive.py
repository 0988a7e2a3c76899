"""Backups that cannot be used are refused before anything is changed, by code."""

import errno
import gzip
import io
import json
import sqlite3
import tarfile
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random

import pytest
from django.db import connection

from crowdgrade.backups import archive, databases, restoring
from crowdgrade.backups.archive import Manifest, open_backup, read_manifest
from crowdgrade.backups.databases import FILES, get_engine
from crowdgrade.backups.messages import SENTENCES, BackupError
from tests.disks import small_disk

# The upload does not shrink, so that 95% of the file ends within it.
CONTENT = {
    "database": b"rows" * 1000,
    "secret_key": b"k" * 40,
    "uploads/" + "u" * 32: Random(0).randbytes(20_000),
}


def name_of(entry):
    return FILES[get_engine()] if entry == "database" else entry


def describe(content=CONTENT, **changes):
    files = {
        name_of(entry): {"bytes": len(data), "sha256": sha256(data).hexdigest()}
        for entry, data in content.items()
    }
    manifest = Manifest(
        created_at="2026-11-27T00:00:00+00:00",
        database=get_engine(),
        database_version="1",
        migrations=["annotations.0001_squashed_0030_device_and_assistive_technology"],
        counts={"auth_user": 1},
        files=files,
    )
    return replace(manifest, **changes)


def write(path, manifest, content=CONTENT):
    with tarfile.open(path, "w:gz") as file:
        entries = {"manifest.json": json.dumps(manifest).encode()}
        entries |= {name_of(entry): data for entry, data in content.items()}
        for name, data in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            file.addfile(entry, io.BytesIO(data))
    return path


def open_code(path):
    with pytest.raises(BackupError) as refused, open_backup(path):
        pass
    return refused.value.code


def test_a_sound_backup_is_unpacked_with_the_files_of_its_manifest(tmp_path):
    path = write(tmp_path / "a.tar.gz", asdict(describe()))
    with open_backup(path) as (manifest, folder):
        assert manifest == describe()
        for entry, data in CONTENT.items():
            assert (folder / name_of(entry)).read_bytes() == data
    assert not folder.exists()


@pytest.mark.parametrize(
    ("share", "code"), [(0.95, "damaged"), (0.01, "no_backup"), (0, "no_backup")]
)
def test_a_truncated_backup_is_refused(tmp_path, share, code):
    path = write(tmp_path / "a.tar.gz", asdict(describe()))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert open_code(path) == code


def test_a_disk_without_room_for_the_files_is_no_damage_of_the_backup(tmp_path, settings):
    # Two megabytes that do not shrink, on a disk of one.
    content = CONTENT | {"uploads/" + "v" * 32: Random(1).randbytes(2 << 20)}
    path = write(tmp_path / "a.tar.gz", asdict(describe(content)), content)
    with small_disk(tmp_path / "disk") as disk:
        settings.HOME = disk.folder
        with pytest.raises(BackupError) as refused, open_backup(path):
            pass
        assert list(disk.folder.iterdir()) == []
    assert refused.value.code == "no_room"
    # 4000 of the database, 40 of the key, 20,000 and 2,097,152 of the uploads.
    assert refused.value.values["bytes"] == 4_000 + 40 + 20_000 + 2_097_152


def test_a_changed_byte_of_the_database_is_found_by_its_checksum(tmp_path):
    path = write(tmp_path / "a.tar.gz", asdict(describe()))
    plain = bytearray(gzip.decompress(path.read_bytes()))
    place = plain.index(b"rowsrows")
    plain[place] ^= 1
    path.write_bytes(gzip.compress(bytes(plain)))
    assert open_code(path) == "damaged"


def test_what_is_no_backup_or_lacks_a_file_is_named(tmp_path):
    assert open_code(tmp_path / "none.tar.gz") == "no_backup"
    other = tmp_path / "other.tar.gz"
    other.write_bytes(b"PK\x03\x04 something else")
    assert open_code(other) == "no_backup"
    key_only = {"secret_key": CONTENT["secret_key"]}
    lacks = write(tmp_path / "b.tar.gz", asdict(describe()), key_only)
    assert open_code(lacks) == "files_missing"


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "uploads/../key", "uploads/short"])
def test_a_manifest_with_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    manifest = describe()
    files = {**manifest.files, name: {"bytes": 1, "sha256": sha256(b"x").hexdigest()}}
    path = write(tmp_path / "a.tar.gz", asdict(replace(manifest, files=files)))
    assert open_code(path) == "damaged"


@pytest.mark.parametrize("values", [[], {}, {"format": 1}, {"format": "1"}])
def test_a_manifest_without_its_fields_is_damaged(tmp_path, values):
    assert open_code(write(tmp_path / "a.tar.gz", values)) == "damaged"


def test_a_newer_format_is_refused_whatever_else_it_holds(tmp_path):
    path = write(tmp_path / "a.tar.gz", {"format": 2, "crowdgrade": "9.9", "unknown": 1})
    with pytest.raises(BackupError) as refused:
        read_manifest(path)
    assert refused.value.code == "newer_format"
    assert refused.value.values["version"] == "9.9"


def check_code(manifest):
    with pytest.raises(BackupError) as refused:
        restoring.check_backup_version("a.tar.gz", manifest)
    return refused.value.code


def test_a_newer_schema_and_another_database_are_refused():
    assert check_code(describe(migrations=["evaluation.9999_later"])) == "newer_schema"
    other = next(engine for engine in FILES if engine != get_engine())
    assert check_code(describe(database=other)) == "other_database"


def test_an_older_schema_and_migrations_that_were_deleted_since_are_taken():
    restoring.check_backup_version("a.tar.gz", describe())
    restoring.check_backup_version("a.tar.gz", describe(migrations=["annotations.0002_gone"]))


def test_tables_of_other_programs_are_distinguished_from_those_of_all_versions():
    own = ["auth_user", "annotations_worker", "django_migrations", "knox_authtoken", "axes_x"]
    assert databases.list_foreign_tables([*own, "ledger", "evaluations"]) == [
        "ledger",
        "evaluations",
    ]


@pytest.mark.django_db
@pytest.mark.skipif(get_engine() != "postgresql", reason="only PostgreSQL lists connections")
@pytest.mark.parametrize(("user", "uses"), [("NULL", False), ("10", True)])
def test_a_process_of_the_server_itself_is_no_use_of_the_database(monkeypatch, user, uses):
    # Autovacuum has no user in the list; a client has one.
    rows = f"(SELECT current_database() AS datname, 0 AS pid, {user}::oid AS usesysid) AS activity"
    monkeypatch.setattr(databases.connections, "close_all", lambda: None)

    def replace_list(execute, sql, params, many, context):
        assert "pg_stat_activity" in sql
        return execute(sql.replace("pg_stat_activity", rows), params, many, context)

    with connection.execute_wrapper(replace_list):
        assert (databases.describe_other_use() is not None) == uses


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("new.zip", "place_not_a_backup_name"),
        ("none/new.tar.gz", "place_without_folder"),
        ("old.tar.gz", "place_exists"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path, name, code):
    (tmp_path / "old.tar.gz").touch()
    with pytest.raises(BackupError) as refused:
        archive.choose_backup_path(tmp_path / name)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.OperationalError("database or disk is full"),
        sqlite3.DatabaseError("database disk image is malformed"),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
)
def test_a_backup_that_the_disk_does_not_take_leaves_nothing(tmp_path, monkeypatch, error):
    def fail(target):
        target.write_bytes(b"the first half")
        raise error

    monkeypatch.setattr(archive, "copy_database", fail)
    with pytest.raises(BackupError) as refused:
        archive.write_backup(tmp_path)
    assert refused.value.code == "not_written"
    assert refused.value.values["reason"] in str(error)
    assert list(tmp_path.iterdir()) == []


def test_only_old_backups_that_were_named_by_their_time_are_deleted(tmp_path):
    now = datetime.now(UTC)
    young, old = (f"crowdgrade-{now - timedelta(days=n):%Y%m%dT%H%M%SZ}.tar.gz" for n in (13, 15))
    for name in (young, old, "crowdgrade-before-upgrade.tar.gz", "notes.txt"):
        (tmp_path / name).touch()
    assert archive.delete_old_backups(tmp_path, 14) == [old]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        young,
        "crowdgrade-before-upgrade.tar.gz",
        "notes.txt",
    ]


def test_each_reason_says_what_to_do_and_takes_its_values():
    values = dict.fromkeys(
        ("place", "folder", "program", "reason", "names", "version", "format", "saved", "used"), "X"
    )
    for sentence in SENTENCES.values():
        assert sentence.format(counts="X", bytes=1, **values).endswith((".", "X"))
