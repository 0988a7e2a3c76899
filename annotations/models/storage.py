"""Where uploaded files wait: a folder that only the owner of the process may open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage


class PrivateStorage(FileSystemStorage):
    """Files in `settings.UPLOADS`, never served; folders have the mode 700, files 600.

    Several web servers need a folder that all of them see, or another storage in its place
    (`STORAGES["uploads"]`): nothing but Django's storage API is used.
    """

    def __init__(self) -> None:
        super().__init__(file_permissions_mode=0o600, directory_permissions_mode=0o700)

    @property
    def base_location(self) -> str:
        """Return the folder, as the settings say now."""
        return os.fspath(settings.UPLOADS)

    @property
    def location(self) -> str:
        """Return the folder as an absolute path."""
        return os.fspath(Path(self.base_location).absolute())

    def _save(self, name: str, content: Any) -> str:
        """Keep a file whole, or, where the disk takes only a part of it, not at all."""
        there = self.exists(name)
        try:
            kept: str = super()._save(name, content)  # type: ignore[misc]
            return kept
        except BaseException:
            if not there:
                with suppress(OSError):
                    self.delete(name)
            raise
