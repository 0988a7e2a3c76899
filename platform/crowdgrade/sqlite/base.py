"""SQLite back-end that creates private files; Django requires the module name `base`.

Connections stay open between requests (CONN_MAX_AGE). Opening one takes longer than the queries of
a page: SQLite reads all tables' definitions, and closing the last one writes the log back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from crowdgrade.home import create_private_folder


class DatabaseWrapper(base.DatabaseWrapper):
    """SQLite connection whose folder (mode 700) and file (mode 600) are private.

    They are not created in the settings, so that a command that opens no database creates none.
    """

    _file: tuple[int, int] | None = None
    """Device and inode of the open file; None in memory."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection to the SQLite file, which is created if it does not exist."""
        name = str(conn_params["database"])
        if not self.is_in_memory_db() and not name.startswith("file:"):
            path = Path(name)
            create_private_folder(path.parent)
            # SQLite gives the write-ahead log and its index the mode of this file.
            path.touch(mode=0o600)
        opened = super().get_new_connection(conn_params)
        self._file = self._find_file_identity()
        return opened

    def is_usable(self) -> bool:
        """Return whether the connection works and its file is still the one at the path.

        After a restored backup or a removed home, the open file has no name: what is written
        into it is lost. Django asks at the first use in a request (CONN_HEALTH_CHECKS).
        """
        return super().is_usable() and self._file == self._find_file_identity()

    def _find_file_identity(self) -> tuple[int, int] | None:
        """Return device and inode of the file at the database's path; None without a file."""
        name = str(self.settings_dict["NAME"])
        if self.is_in_memory_db() or name.startswith("file:"):
            return None
        try:
            status = Path(name).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino
