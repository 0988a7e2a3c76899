"""The folder of local state (`var/`): made when something is first kept, for its owner only."""

import contextlib
import os
import secrets
from pathlib import Path

KEPT_AS = "secret_key"


def private_folder(path: Path) -> Path:
    """The folder, made with mode 700 if it was not there; an existing one is left as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def kept_secret_key(home: Path) -> str:
    """The secret key of this installation, made at the first call and kept in `home` (mode 600).

    Several processes may start at once: one of them makes the key, all get the same.
    """
    path = home / KEPT_AS
    if not path.exists():
        private_folder(home)
        # Linked, not renamed: the name appears with its content, and never replaces another key.
        fresh = home / f".{KEPT_AS}.{os.getpid()}.{secrets.token_hex(4)}"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)
        finally:
            fresh.unlink()
    key = path.read_text(encoding="ascii").strip()
    if len(key) < 32:
        raise RuntimeError(f"{path} holds no secret key: delete it, and a new one will be made")
    return key
