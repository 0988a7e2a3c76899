"""Model of uploaded files, which are checked at once and imported after confirmation."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from django.conf import settings
from django.core.files import File
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone

from annotations.models.access import Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet

if TYPE_CHECKING:
    from collections.abc import Iterator

LIFETIME = timedelta(days=1)
"""How long an upload is stored."""
PRIVATE_NAME = re.compile(r"[A-Za-z0-9_-]{32}")
"""The names that `private_name` returns."""
LONGEST_NAME = 200


def upload_storage() -> Storage:
    """Return the storage of uploaded files."""
    return storages["uploads"]


def private_name(upload: Upload, filename: str) -> str:
    """Return a random file name, so that `filename` is never used on the disk."""
    return secrets.token_urlsafe(24)


class Upload(Record):
    """Uploaded file with the results of its check and import; deleted after a day.

    `name` is the browser's name of the file: shown to users, never used as a path. `report` holds
    an `ImportReport` as plain values, `lines` the same in words. `problems` are those of an
    `InputError`, of `n_problems` in all. `checked` holds the parsed rows, where parsing again would
    be slow. Both files are deleted as soon as they are not needed.
    """

    class State(models.TextChoices):
        """State of an upload: needs a column mapping, is invalid, is valid, or is imported."""

        MAPPING = "mapping"
        BAD = "bad"
        CHECKED = "checked"
        DONE = "done"

    access = Access(question_set="question_set")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads"
    )
    question_set = models.ForeignKey(QuestionSet, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=40)
    name = models.CharField(max_length=LONGEST_NAME)
    columns = models.TextField(blank=True)
    options = models.JSONField(default=dict, blank=True)
    file = models.FileField(storage=upload_storage, upload_to=private_name, blank=True)
    checked = models.FileField(storage=upload_storage, upload_to=private_name, blank=True)
    state = models.CharField(max_length=7, choices=State.choices, default=State.BAD)
    report = models.JSONField(null=True, blank=True)
    lines = models.JSONField(default=list, blank=True)
    problems = models.JSONField(default=list, blank=True)
    n_problems = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["mapping", "bad", "checked", "done"]),
                name="upload_state_is_known",
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="upload_age")]

    def __str__(self) -> str:
        return f"{self.name} into {self.question_set}"

    def open_file(self) -> BinaryIO:
        """Return the uploaded file, open for reading from its beginning."""
        return cast("BinaryIO", self.file.storage.open(self.file.name or "", "rb").file)

    @contextmanager
    def delete_files_on_error(self) -> Iterator[None]:
        """Delete the files that the `with` block added to the upload if the block fails."""
        # Files of a stored row stay: the row still names them.
        before = set() if self._state.adding else {self.file.name, self.checked.name}
        try:
            yield
        except BaseException:
            for field in (self.file, self.checked):
                if field and field.name not in before:
                    field.delete(save=False)
            raise

    def store_checked_rows(self, path: Path) -> None:
        """Store a copy of the file `path`, which holds the parsed rows, with the upload."""
        with path.open("rb") as file:
            self.checked.save("", File(file), save=False)

    @contextmanager
    def copy_checked_rows(self) -> Iterator[Path]:
        """Yield the path of a temporary copy of the parsed rows."""
        with TemporaryDirectory(prefix="upload-") as folder:
            path = Path(folder) / "rows"
            with self.checked.storage.open(self.checked.name or "", "rb") as stored:
                # Private before the rows are in it: they hold the ids of workers.
                path.touch(mode=0o600)
                with path.open("wb") as file:
                    for chunk in stored.chunks():
                        file.write(chunk)
            yield path

    def delete_checked_rows(self) -> None:
        """Delete the parsed rows, so that the file can be parsed with other settings."""
        if self.checked:
            self.checked.delete(save=False)

    def delete_files(self) -> None:
        """Delete the uploaded file and its parsed rows; the database row remains."""
        for field in (self.file, self.checked):
            if field:
                field.delete(save=False)


def select_open_uploads(question_set: QuestionSet, owner_id: int) -> QuerySet[Upload]:
    """Return a user's uploads to a question set that can still be imported, newest first."""
    states = (Upload.State.MAPPING, Upload.State.CHECKED)
    return (
        Upload.objects.filter(question_set=question_set, owner_id=owner_id, state__in=states)
        .filter(created_at__gte=Now() - LIFETIME)
        .exclude(file="")
        .order_by("-created_at")
    )


@receiver(post_delete, sender=Upload, dispatch_uid="annotations.uploads")
def delete_files_of_upload(instance: Upload, **kwargs: Any) -> None:
    """Delete the files of an upload whose row was deleted (signal receiver)."""
    instance.delete_files()


def delete_old_uploads() -> int:
    """Delete uploads, and files without an upload, older than a day; return the number of uploads.

    A file is orphaned if the process was killed before its row was stored.
    """
    old: Iterable[Upload] = Upload.objects.filter(created_at__lt=Now() - LIFETIME)
    n = sum(bool(upload.delete()) for upload in old)
    storage = upload_storage()
    try:
        _, names = storage.listdir("")
        # Other files in that folder are not ours.
        own_names = filter(PRIVATE_NAME.fullmatch, names)
        # Only old ones: a file is written before its row, so a young one may be about to get it.
        old_names = [
            name
            for name in own_names
            if storage.get_modified_time(name) < timezone.now() - LIFETIME
        ]
    except FileNotFoundError:  # no upload yet, or another process deleted it
        return n
    rows = Upload.objects.filter(Q(file__in=old_names) | Q(checked__in=old_names))
    known = {name for pair in rows.values_list("file", "checked") for name in pair}
    for name in set(old_names) - known:
        storage.delete(name)
    return n
