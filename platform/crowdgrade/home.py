"""Folder of local state (`var/`), created on first use and readable by its owner only."""

import contextlib
import os
import secrets
from pathlib import Path

KEY_FILE = "secret_key"


def create_private_folder(path: Path) -> Path:
    """Create a folder with mode 700 if it does not exist; return its path."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def load_secret_key(home: Path) -> str:
    """Return the installation's secret key, created in the folder `home` on first use.

    If several processes start at once, one of them creates the key and all return the same.
    Raises RuntimeError if the file has fewer than 32 characters.
    """
    path = home / KEY_FILE
    if not path.exists():
        create_private_folder(home)
        # A hard link, because it is atomic and, unlike renaming, never replaces an existing key.
        fresh = home / f".{KEY_FILE}.{os.getpid()}.{secrets.token_hex(4)}"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                # On disk before the link makes it visible: a used key must not get lost.
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)
        finally:
            fresh.unlink()
    key = path.read_text(encoding="ascii").strip()
    if len(key) < 32:
        raise RuntimeError(f"{path} holds no secret key: delete it, and a new one will be made")
    return key
