"""The file of a backup: written atomically, and checked completely before it is used."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final

import django
from django.conf import settings
from django.core.files.storage import Storage

from annotations.models.uploads import PRIVATE_NAME, upload_storage
from crowdgrade import __version__
from crowdgrade.backups.databases import FILES, DatabaseContents, copy_database, get_engine
from crowdgrade.backups.messages import BackupError
from crowdgrade.home import KEY_FILE
from crowdgrade.outages import NO_ROOM

FORMAT: Final = 1
"""Number of the format; a newer one is refused."""
SUFFIX: Final = ".tar.gz"
MANIFEST: Final = "manifest.json"
UPLOADS: Final = "uploads/"
DATED_NAME: Final = re.compile(r"crowdgrade-\d{8}T\d{6}Z\.tar\.gz")
LONGEST_MANIFEST: Final = 16 << 20
READ_ERRORS = (tarfile.TarError, EOFError, zlib.error, OSError)


@dataclass(frozen=True)
class Manifest:
    """Description of a backup, its first entry `manifest.json`.

    Attributes
    ----------
    format : number of the format.
    created_at : time of the database's copy, ISO 8601, UTC.
    crowdgrade, django, python, database_version : versions.
    database : "sqlite" or "postgresql".
    migrations : applied migrations, "APP.NAME".
    counts : number of rows by table.
    files : bytes and SHA-256 of each entry by name.
    uploads_missing : uploaded files to which rows refer and that were deleted meanwhile.
    """

    created_at: str
    database: str
    database_version: str
    migrations: list[str]
    counts: dict[str, int]
    files: dict[str, dict[str, Any]]
    uploads_missing: list[str] = field(default_factory=list)
    format: int = FORMAT
    crowdgrade: str = __version__
    django: str = django.__version__
    python: str = platform.python_version()


def write_backup(place: Path) -> tuple[Path, Manifest]:
    """Write a backup of this installation; return its path and manifest.

    `place` is a folder, in which the file is named by the time, or a new file `*.tar.gz`. The file
    (mode 600) appears completely or not at all. Raises `BackupError`.
    """
    path = choose_backup_path(place)
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=path.parent) as folder:
            staged = Path(folder)
            manifest = _stage_files(staged)
            fresh = staged / f"{secrets.token_hex(4)}{SUFFIX}"
            _write_archive(staged, manifest, fresh)
            # A hard link, because unlike renaming it never replaces an existing file.
            os.link(fresh, path)
    except FileExistsError:
        raise BackupError("place_exists", place=path) from None
    except (OSError, sqlite3.Error) as error:
        # SQLite reports a full disk and a damaged database by errors of its own.
        raise BackupError("not_written", place=path, reason=_describe_error(error)) from error
    return path, manifest


def choose_backup_path(place: Path) -> Path:
    """Return the path of a new backup; raise `BackupError` if `place` is not suitable."""
    if place.is_dir():
        return place / f"crowdgrade-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{SUFFIX}"
    if not place.name.endswith(SUFFIX):
        raise BackupError("place_not_a_backup_name", place=place)
    if not place.parent.is_dir():
        raise BackupError("place_without_folder", folder=place.parent)
    if place.exists():
        raise BackupError("place_exists", place=place)
    return place


def delete_old_backups(folder: Path, days: int) -> list[str]:
    """Delete backups older than `days`, by the time in their names; return the names."""
    oldest = f"crowdgrade-{datetime.now(UTC) - timedelta(days=days):%Y%m%dT%H%M%SZ}{SUFFIX}"
    names = [path.name for path in folder.iterdir() if DATED_NAME.fullmatch(path.name)]
    old = sorted(name for name in names if name < oldest)
    for name in old:
        (folder / name).unlink(missing_ok=True)
    return old


def _stage_files(folder: Path) -> Manifest:
    """Copy database, key and uploads into a folder, and return their manifest."""
    engine, created = get_engine(), datetime.now(UTC)
    # The database first: an upload that ends afterwards has no row in it, and is not needed.
    contents = copy_database(folder / FILES[engine])
    key = folder / KEY_FILE
    key.touch(mode=0o600)
    key.write_text(str(settings.SECRET_KEY), encoding="utf-8")
    names = [FILES[engine], KEY_FILE]
    missing = []
    (folder / UPLOADS).mkdir()
    for name in contents.uploads:
        if _copy_upload(upload_storage(), name, folder / UPLOADS / name):
            names.append(UPLOADS + name)
        else:
            missing.append(name)
    return _build_manifest(folder, engine, created, contents, names, missing)


def _build_manifest(
    folder: Path,
    engine: str,
    created: datetime,
    contents: DatabaseContents,
    names: list[str],
    missing: list[str],
) -> Manifest:
    """Return the manifest of the staged files in a folder, with their sizes and hashes."""
    files = {}
    for name in names:
        path = folder / name
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        files[name] = {"bytes": path.stat().st_size, "sha256": digest}
    return Manifest(
        created_at=created.isoformat(timespec="seconds"),
        database=engine,
        database_version=contents.version,
        migrations=list(contents.migrations),
        counts=dict(contents.counts),
        files=files,
        uploads_missing=missing,
    )


def _copy_upload(storage: Storage, name: str, target: Path) -> bool:
    """Copy an uploaded file to `target`; return False if it was deleted meanwhile."""
    if not PRIVATE_NAME.fullmatch(name):
        return False
    target.touch(mode=0o600)
    try:
        with storage.open(name, "rb") as stored, target.open("wb") as file:
            for chunk in stored.chunks():
                file.write(chunk)
    except FileNotFoundError:
        target.unlink()
        return False
    return True


def _write_archive(folder: Path, manifest: Manifest, target: Path) -> None:
    """Write the manifest and the staged files to an archive, and flush it to the disk."""
    target.touch(mode=0o600)
    with target.open("wb") as file:
        # Level 1: dumps are compressed already, and numbers hardly shrink.
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
            text = json.dumps(asdict(manifest), indent=1).encode()
            entry = tarfile.TarInfo(MANIFEST)
            entry.size, entry.mode = len(text), 0o600
            archive.addfile(entry, BytesIO(text))
            for name in manifest.files:
                archive.add(folder / name, arcname=name, filter=_strip_owner)
        file.flush()
        os.fsync(file.fileno())


def _strip_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the archive entry without the names and ids of its owner."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


@contextmanager
def open_backup(place: Path) -> Iterator[tuple[Manifest, Path]]:
    """Yield a backup's manifest and a folder with its files, after checking all checksums.

    The folder is in the installation's folder (CROWDGRADE_HOME) and deleted afterwards. Raises
    `BackupError`: `no_backup`, `damaged`, `files_missing` or `newer_format`.
    """
    manifest = read_manifest(place)
    parent = settings.HOME if settings.HOME.is_dir() else None
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=parent) as folder:
        found = _extract_files(place, Path(folder), manifest.files)
        if missing := sorted(set(manifest.files) - found):
            raise BackupError("files_missing", place=place, names=", ".join(missing))
        yield manifest, Path(folder)


def read_manifest(place: Path) -> Manifest:
    """Return the manifest of a backup without reading the rest; raise `BackupError` if invalid."""
    try:
        with tarfile.open(place, mode="r|gz") as archive:
            entry = archive.next()
            if entry is None or entry.name != MANIFEST or entry.size > LONGEST_MANIFEST:
                raise BackupError("no_backup", place=place, reason="it has no manifest")
            file = archive.extractfile(entry)
            values = json.loads(file.read()) if file else None
    except READ_ERRORS as error:
        raise BackupError("no_backup", place=place, reason=_describe_error(error)) from error
    except ValueError as error:
        raise BackupError("damaged", place=place, reason="its manifest is no JSON") from error
    return _parse_manifest(place, values)


def _parse_manifest(place: Path, values: Any) -> Manifest:
    """Return the manifest from its JSON values; raise `BackupError` if they are invalid."""
    if isinstance(values, dict) and isinstance(values.get("format"), int):
        if values["format"] > FORMAT:
            raise BackupError(
                "newer_format",
                place=place,
                version=values.get("crowdgrade", "?"),
                format=values["format"],
            )
        try:
            manifest = Manifest(**values)
        except TypeError:
            pass
        else:
            needed = {KEY_FILE, FILES.get(manifest.database)}
            if needed <= set(manifest.files) and all(map(_is_entry_name, manifest.files)):
                return manifest
    raise BackupError("damaged", place=place, reason="its manifest is not complete")


def _is_entry_name(name: str) -> bool:
    """Return whether a backup may contain an entry with this name, which stays in its folder."""
    upload = name.removeprefix(UPLOADS)
    is_upload = name.startswith(UPLOADS) and PRIVATE_NAME.fullmatch(upload) is not None
    return name in (*FILES.values(), KEY_FILE) or is_upload


def _extract_files(place: Path, folder: Path, files: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Write the manifest's entries to a folder, checking each checksum; return their names."""
    result = set()
    try:
        (folder / UPLOADS).mkdir()
        with tarfile.open(place, mode="r|gz") as archive:
            for entry in archive:
                if entry.name not in files:
                    continue
                file = archive.extractfile(entry)
                if (
                    file is None
                    or _copy_and_hash(file, folder / entry.name) != files[entry.name]["sha256"]
                ):
                    reason = f"the checksum of {entry.name} differs"
                    raise BackupError("damaged", place=place, reason=reason)
                result.add(entry.name)
    except READ_ERRORS as error:
        number = getattr(error, "errno", None)
        if number in NO_ROOM:
            n_bytes = sum(int(file["bytes"]) for file in files.values())
            raise BackupError("no_room", folder=folder.parent, bytes=n_bytes) from error
        # An error of the operating system has a number: it is no damage of the file.
        if number is not None:
            raise
        raise BackupError("damaged", place=place, reason=_describe_error(error)) from error
    return result


def _copy_and_hash(source: IO[bytes], target: Path) -> str:
    """Copy one open file to another and return the SHA-256 of its content."""
    digest = hashlib.sha256()
    target.touch(mode=0o600)
    with target.open("wb") as file:
        while block := source.read(1 << 20):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _describe_error(error: Exception) -> str:
    """Return the text of a system error, such as "No space left on device"."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
