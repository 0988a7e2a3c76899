"""Storage of uploaded files, in a folder that only the owner of the process can open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage


class PrivateStorage(FileSystemStorage):
    """Storage of uploads in a folder that is never served (`settings.UPLOADS`); modes 700 and 600.

    Several web servers need a folder that all of them see, or another storage
    (`STORAGES["uploads"]`): only Django's storage API is used.
    """

    def __init__(self) -> None:
        super().__init__(file_permissions_mode=0o600, directory_permissions_mode=0o700)

    @property
    def base_location(self) -> str:
        """Folder of the uploads, by the current settings."""
        return os.fspath(settings.UPLOADS)

    @property
    def location(self) -> str:
        """Folder of the uploads as an absolute path."""
        return os.fspath(Path(self.base_location).absolute())

    def _save(self, name: str, content: Any) -> str:
        """Save a file and return its name; remove an incomplete file if saving fails."""
        existed = self.exists(name)
        try:
            saved_name: str = super()._save(name, content)  # type: ignore[misc]
            return saved_name
        except BaseException:
            # A file of that name from another upload is not deleted.
            if not existed:
                with suppress(OSError):
                    self.delete(name)
            raise
