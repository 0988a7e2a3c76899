"""SQLite back-end that creates private files; Django requires the module name `base`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from crowdgrade.home import create_private_folder


class DatabaseWrapper(base.DatabaseWrapper):
    """SQLite connection whose folder (mode 700) and file (mode 600) are private.

    Not done in the settings, so that a command that opens no database creates no files.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the SQLite database file, created if it does not exist."""
        name = str(conn_params["database"])
        if not self.is_in_memory_db() and not name.startswith("file:"):
            path = Path(name)
            create_private_folder(path.parent)
            # SQLite gives the write-ahead log and its index the mode of this file.
            path.touch(mode=0o600)
        return super().get_new_connection(conn_params)
