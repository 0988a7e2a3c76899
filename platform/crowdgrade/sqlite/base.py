"""The back-end named by DATABASES; Django looks for it in a module of this name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from crowdgrade.home import private_folder


class DatabaseWrapper(base.DatabaseWrapper):
    """Makes the folder (mode 700) and the file (mode 600) before it opens them.

    Done here and not in the settings, so that commands that open no database leave nothing behind.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the database file, made if it was not there."""
        name = str(conn_params["database"])
        if not self.is_in_memory_db() and not name.startswith("file:"):
            path = Path(name)
            private_folder(path.parent)
            # The write-ahead log and its index take over the mode of the file.
            path.touch(mode=0o600)
        return super().get_new_connection(conn_params)
