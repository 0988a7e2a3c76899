"""Restoration of an installation from a backup, with the erasures that were requested since."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.core.files import File
from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.loader import MigrationLoader

from annotations.answering.finishing import withdraw_answers
from annotations.models import AuditEntry, Submission, Worker
from annotations.models.uploads import PRIVATE_NAME, upload_storage
from crowdgrade.backups import databases
from crowdgrade.backups.archive import UPLOADS, Manifest, open_backup
from crowdgrade.backups.messages import BackupError
from crowdgrade.command_help import OWN_APPS
from crowdgrade.environment import read_variable
from crowdgrade.home import KEY_FILE, create_private_folder
from crowdgrade.supervisor import LOCK_FILE, AlreadyRunningError, hold_lock
from evaluation.deletion.storage import erasing

MOST_NAMED: Final = 5
"""Names in a message; the others are left out."""


@dataclass(frozen=True)
class RestoreResult:
    """Result of a restoration: the backup's manifest, and numbers of migrations and erasures.

    Attributes
    ----------
    manifest : the backup's manifest.
    n_migrated : migrations that were applied to bring the database to this version.
    n_erased : workers and submissions of the backup whose erasure was requested again, because the
        replaced database recorded it.
    has_other_key : whether SECRET_KEY of the environment differs from the backup's key.
    """

    manifest: Manifest
    n_migrated: int
    n_erased: int
    has_other_key: bool


def restore_backup(
    place: Path, *, replace: bool = False, confirm: Callable[[dict[str, int]], bool]
) -> RestoreResult:
    """Restore database, secret key and uploads from a backup, and migrate to this version.

    Everything is checked before anything is changed. An installation with data is replaced only
    with `replace`, and if `confirm`, which gets the numbers of rows, returns True. Its erasures are
    requested again. Raises `BackupError`.
    """
    with open_backup(place) as (manifest, folder):
        check_backup_version(place, manifest)
        with _hold_site_lock():
            data = count_replaced_rows(replace=replace)
            if data and not confirm(data):
                raise BackupError("not_confirmed")
            workers, submissions = load_erasures() if data else (set(), set())
            uploads = list_current_uploads() if data else set()
            databases.replace_database(folder / databases.FILES[manifest.database])
            key = _restore_secret_key(folder)
            _restore_uploads(folder, manifest, uploads)
            _check_row_counts(manifest)
            n_migrated = _migrate_database(manifest)
            n_erased = repeat_erasures(workers, submissions)
    connections.close_all()
    chosen = read_variable("SECRET_KEY")
    return RestoreResult(manifest, n_migrated, n_erased, chosen is not None and chosen != key)


def check_backup_version(place: Path, manifest: Manifest) -> None:
    """Raise `BackupError` if this version cannot use the backup's database."""
    used = databases.get_engine()
    if manifest.database != used:
        raise BackupError("other_database", place=place, saved=manifest.database, used=used)
    saved = {migration.partition(".")[0] for migration in manifest.migrations}
    last = {app: find_last_migration(app) for app in saved.intersection(OWN_APPS)}
    # By number: a database that was upgraded names early migrations that were deleted since.
    newer = [
        migration
        for migration in manifest.migrations
        for app, _, name in [migration.partition(".")]
        if app in OWN_APPS and name[:4] > last[app][:4]
    ]
    if newer:
        listing = ", ".join(newer[:MOST_NAMED])
        raise BackupError("newer_schema", place=place, version=manifest.crowdgrade, names=listing)


def find_last_migration(app: str) -> str:
    """Return the name of an app's newest migration, found among the files of its folder."""
    folder = Path(apps.get_app_config(app).path) / "migrations"
    return max(path.stem for path in folder.glob("[0-9]*.py"))


def count_replaced_rows(*, replace: bool) -> dict[str, int]:
    """Return the numbers of rows that a restoration would replace; {} without any.

    Raises `BackupError` if the database is in use, has tables of others, or has data and `replace`
    is False.
    """
    tables = databases.list_tables()
    if foreign := databases.list_foreign_tables(tables):
        raise BackupError("foreign_tables", names=", ".join(foreign[:MOST_NAMED]))
    data = databases.count_user_rows(tables)
    if data and not replace:
        listing = [f"{n:,} in {name}" for name, n in sorted(data.items())[:MOST_NAMED]]
        raise BackupError("not_empty", counts=", ".join(listing))
    if (users := databases.describe_other_use()) is not None:
        raise BackupError("in_use", reason=users)
    return data


def load_erasures() -> tuple[set[UUID], set[UUID]]:
    """Return the ids of the workers, and of the submissions, whose erasure the audit log records.

    Both sets are empty if the tables of the database are of another version.
    """
    try:
        rows = list(
            AuditEntry.objects.filter(action=AuditEntry.Action.ERASE).values_list(
                "kind", "object_id"
            )
        )
    except DatabaseError:
        rows = []
    finally:
        connections.close_all()
    return (
        {key for kind, key in rows if kind == erasing.WORKER},
        {key for kind, key in rows if kind == erasing.SUBMISSION},
    )


def list_current_uploads() -> set[str]:
    """Return the names of the uploaded files; none if the tables are of another version."""
    try:
        return databases.list_upload_names(databases.list_tables())
    except DatabaseError:
        return set()
    finally:
        connections.close_all()


def repeat_erasures(worker_ids: set[UUID], submission_ids: set[UUID]) -> int:
    """Request erasures again that the restored database lacks; return their number.

    A background process deletes the texts and their copies, as after the first request.
    """
    workers = Worker.objects.filter(public_id__in=worker_ids, erased_at=None)
    submissions = Submission.objects.filter(public_id__in=submission_ids, withdrawn_at=None)
    n = 0
    for worker in workers:
        erasing.request_erasure(worker, worker.owner_id)
        n += 1
    for submission in submissions:
        withdraw_answers(submission)
        n += 1
    return n


@contextmanager
def _hold_site_lock() -> Iterator[None]:
    """Hold the lock of `manage.py up` in the block; raise `BackupError` if the site is running."""
    home = create_private_folder(settings.HOME)
    try:
        with hold_lock(home / LOCK_FILE):
            yield
    except AlreadyRunningError:
        raise BackupError("in_use", reason="`manage.py up` is running") from None


def _restore_secret_key(folder: Path) -> str:
    """Write the backup's secret key to CROWDGRADE_HOME, and return it."""
    key = (folder / KEY_FILE).read_text(encoding="utf-8")
    target = settings.HOME / KEY_FILE
    fresh = target.with_name(f".{KEY_FILE}.restored")
    fresh.touch(mode=0o600)
    fresh.write_text(key, encoding="utf-8")
    fresh.replace(target)
    return key.strip()


def _restore_uploads(folder: Path, manifest: Manifest, replaced: set[str]) -> None:
    """Replace the uploaded files by those of the backup; `replaced` are the present ones."""
    storage = upload_storage()
    # No row refers to them any more, so nothing else would ever delete them.
    for name in replaced:
        if PRIVATE_NAME.fullmatch(name):
            storage.delete(name)
    for entry in manifest.files:
        if entry.startswith(UPLOADS):
            name = entry.removeprefix(UPLOADS)
            storage.delete(name)
            with (folder / entry).open("rb") as file:
                storage.save(name, File(file))


def _check_row_counts(manifest: Manifest) -> None:
    """Raise `BackupError` if a restored table has another number of rows than the backup."""
    tables = set(databases.list_tables())
    rows = databases.count_table_rows(name for name in manifest.counts if name in tables)
    other = sorted(name for name, n in manifest.counts.items() if rows.get(name) != n)
    if other:
        raise BackupError("counts_differ", names=", ".join(other[:MOST_NAMED]))


def _migrate_database(manifest: Manifest) -> int:
    """Migrate the restored database to this version; return the number of applied migrations."""
    call_command("migrate", verbosity=0, interactive=False)
    applied = MigrationLoader(connection).applied_migrations
    return len([one for one in applied if ".".join(one) not in manifest.migrations])
