"""A file that somebody uploaded into a question set: checked at once, imported after a yes."""

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
from django.db.models import Q
from django.db.models.functions import Now
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone

from annotations.models.access import Access
from annotations.models.base import Record
from annotations.models.question_sets import QuestionSet

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = timedelta(days=1)
PRIVATE_NAME = re.compile(r"[A-Za-z0-9_-]{32}")
LONGEST_NAME = 200


def upload_storage() -> Storage:
    """Return the storage of uploaded files."""
    return storages["uploads"]


def private_name(upload: Upload, filename: str) -> str:
    """Return a name that nobody guesses; of the given one not a letter gets near the disk."""
    return secrets.token_urlsafe(24)


class Upload(Record):
    """A file, what was found in it, and what became of it; gone after a day.

    `name` is what the browser called the file: shown to people, never used as a path. `report`
    holds an `ImportReport` as plain values and `lines` the same in words; `problems` are those of
    an `InputError`, of `n_problems` in all. `checked` holds the rows as they were read, where
    reading them again would cost; both files go as soon as nobody needs them.
    """

    class State(models.TextChoices):
        """Waits for its columns; cannot be imported; waits for a yes; is imported."""

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

    def opened(self) -> BinaryIO:
        """Return the bytes of the file, from the beginning."""
        return cast("BinaryIO", self.file.storage.open(self.file.name or "", "rb").file)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Keep no file that no row names: where the block fails, those go that it has added."""
        before = set() if self._state.adding else {self.file.name, self.checked.name}
        try:
            yield
        except BaseException:
            for field in (self.file, self.checked):
                if field and field.name not in before:
                    field.delete(save=False)
            raise

    def keep_checked(self, path: Path) -> None:
        """Keep the rows that were written to `path`."""
        with path.open("rb") as file:
            self.checked.save("", File(file), save=False)

    @contextmanager
    def checked_path(self) -> Iterator[Path]:
        """Open the rows that were kept, as a file of this machine while the block runs."""
        with TemporaryDirectory(prefix="upload-") as folder:
            path = Path(folder) / "rows"
            with self.checked.storage.open(self.checked.name or "", "rb") as kept:
                path.touch(mode=0o600)
                with path.open("wb") as file:
                    for chunk in kept.chunks():
                        file.write(chunk)
            yield path

    def drop_checked(self) -> None:
        """Remove the rows that were read: the file is to be read otherwise."""
        if self.checked:
            self.checked.delete(save=False)

    def drop_files(self) -> None:
        """Remove the files; what became of them stays for its page."""
        for field in (self.file, self.checked):
            if field:
                field.delete(save=False)


@receiver(post_delete, sender=Upload, dispatch_uid="annotations.uploads")
def drop_files(instance: Upload, **kwargs: Any) -> None:
    """Remove the files of a row that is gone, whatever removed it."""
    instance.drop_files()


def sweep() -> int:
    """Remove uploads that are older than a day, and as old files of none; how many rows went.

    A file is of none where the process was killed before its row was stored.
    """
    old: Iterable[Upload] = Upload.objects.filter(created_at__lt=Now() - KEPT)
    n = sum(bool(upload.delete()) for upload in old)
    storage = upload_storage()
    try:
        _, names = storage.listdir("")
        # Whatever else stands in that folder is not ours.
        ours = filter(PRIVATE_NAME.fullmatch, names)
        late = [name for name in ours if storage.get_modified_time(name) < timezone.now() - KEPT]
    except FileNotFoundError:  # nobody has sent any, or another sweep was here
        return n
    rows = Upload.objects.filter(Q(file__in=late) | Q(checked__in=late))
    known = {name for pair in rows.values_list("file", "checked") for name in pair}
    for name in set(late) - known:
        storage.delete(name)
    return n
