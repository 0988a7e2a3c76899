"""A cache in files that all processes of a machine share; where requests are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.filebased import FileBasedCache


class FileCache(FileBasedCache):
    """Django's, but that the folder (mode 700) appears with what is first kept in it.

    Commands that count nothing leave nothing behind; Django's system checks make every cache.
    """

    def __init__(self, folder: str, options: dict[str, Any]) -> None:
        BaseCache.__init__(self, options)
        self._dir = str(Path(folder).resolve())
