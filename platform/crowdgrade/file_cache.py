"""File cache shared by all processes of a machine, in which rate limits are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.filebased import FileBasedCache


class FileCache(FileBasedCache):
    """Django's file cache, which creates its folder (mode 700) only with the first entry.

    Django's system checks instantiate every cache; a command must not create the folder by that.
    """

    def __init__(self, folder: str, options: dict[str, Any]) -> None:
        BaseCache.__init__(self, options)
        self._dir = str(Path(folder).resolve())
