"""Uploaded files that wait for a confirmation: private, under a name nobody guesses, for a day."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404

SECONDS_KEPT = 24 * 60 * 60
TOKEN = re.compile(r"[A-Za-z0-9_-]{20,60}")


@dataclass
class Staged:
    """One file and what became of it so far.

    `state` is "bad" (cannot be imported), "checked" (waits for a yes) or "done"; `report` holds an
    `ImportReport` as plain values, `problems` those of an `InputError`, of `n_problems` in all.
    `name` is what the browser called the file: shown to people, never used as a path.
    """

    token: str
    user: int
    question_set: str
    kind: str
    name: str
    suffix: str
    columns: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    state: str = "bad"
    report: dict[str, Any] | None = None
    lines: list[str] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    n_problems: int = 0

    @property
    def path(self) -> Path:
        """Where the file is."""
        return folder() / f"{self.token}{self.suffix}"

    def save(self) -> None:
        """Keep what is known about it beside the file."""
        _write(folder() / f"{self.token}.about", [json.dumps(asdict(self)).encode()])

    def drop_file(self) -> None:
        """Remove the file; what became of it stays for its page."""
        self.path.unlink(missing_ok=True)

    def drop(self) -> None:
        """Remove everything."""
        self.drop_file()
        (folder() / f"{self.token}.about").unlink(missing_ok=True)


def folder() -> Path:
    """Return the private folder of staged files, made if it is not there."""
    path = Path(settings.HOME) / "uploads"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def stage(
    chunks: Iterable[bytes], *, user: int, question_set: str, kind: str, name: str, **more: Any
) -> Staged:
    """Keep an uploaded file; old ones go at the same time."""
    sweep()
    # The ending says how to read it; nothing else of the name gets near the disk.
    suffix = re.sub(r"[^a-z0-9.]", "", Path(name).suffix.lower())[:10]
    token = secrets.token_urlsafe(24)
    staged = Staged(token, user, question_set, kind, Path(name).name[:200], suffix, **more)
    _write(staged.path, chunks)
    return staged


def find(token: str, *, user: int, question_set: str) -> Staged:
    """Return what this user staged for this set under the token; else it does not exist."""
    if not TOKEN.fullmatch(token):
        raise Http404
    try:
        about = json.loads((folder() / f"{token}.about").read_bytes())
    except FileNotFoundError:
        raise Http404("it was discarded, or a day has passed") from None
    staged = Staged(**about)
    if (staged.user, staged.question_set) != (user, question_set):
        raise Http404
    return staged


def sweep(now: float | None = None) -> int:
    """Remove what is older than a day; returns how many files went."""
    oldest = (time.time() if now is None else now) - SECONDS_KEPT
    old = [path for path in folder().iterdir() if path.stat().st_mtime < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            file.write(chunk)
