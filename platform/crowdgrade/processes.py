"""Processes of the site: web servers that share a port, and a background process."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

from crowdgrade.supervisor import Child


def build_child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a child process, with settings module and import path."""
    path = os.pathsep.join([str(settings.ROOT), str(settings.ROOT / "platform")])
    return {
        **os.environ,
        "PYTHONPATH": path,
        "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
        "CROWDGRADE_HOME": str(settings.HOME),
        **(extra or {}),
    }


def build_web_servers(listening: Sequence[socket.socket], log: Path | None = None) -> list[Child]:
    """Return web server processes (not started) that share the listening sockets.

    `log` is the file of their output, None for the terminal. Deletes the cache in which they count
    requests, because a power failure may have left it unreadable, and the metrics of earlier
    processes.
    """
    for folder in (settings.CACHE_FOLDER, settings.METRICS_FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    host, port = listening[0].getsockname()[:2]
    files = [str(listener.fileno()) for listener in listening]
    command = [sys.executable, "-m", "crowdgrade.web_server", str(host), str(port), *files]
    n: int = settings.WEB_PROCESSES
    names = [f"web server {number}" for number in range(1, n + 1)] if n > 1 else ["the web server"]
    return [Child(name, command, build_child_environment(), log, listening) for name in names]


def build_background_process(log: Path | None = None) -> Child:
    """Return the background process (Celery, not started), which computes one run at a time."""
    command = [
        *(sys.executable, "-m", "celery", "--quiet", "-A", "crowdgrade", "worker"),
        *("--pool=solo", "--loglevel=WARNING", "--without-gossip", "--without-mingle"),
    ]
    return Child("the worker", command, build_child_environment(), log)
