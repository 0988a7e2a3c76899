"""The processes of the site: web servers that share a port, and a worker."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

from crowdgrade.supervisor import Child


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a child: ours, the settings' place, and the path to the site."""
    path = os.pathsep.join([str(settings.ROOT), str(settings.ROOT / "platform")])
    return {
        **os.environ,
        "PYTHONPATH": path,
        "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
        "CROWDGRADE_HOME": str(settings.HOME),
        **(extra or {}),
    }


def web(listening: Sequence[socket.socket], log: Path | None = None) -> list[Child]:
    """Return the web servers of sockets that listen, as many as WEB_PROCESSES says.

    `log` takes what they say, None leaves it on the terminal. They count requests in one place,
    which is emptied here: what a power failure left of it may be unreadable.
    """
    shutil.rmtree(settings.CACHE_FOLDER, ignore_errors=True)
    host, port = listening[0].getsockname()[:2]
    files = [str(one.fileno()) for one in listening]
    command = [sys.executable, "-m", "crowdgrade.web_server", str(host), str(port), *files]
    n: int = settings.WEB_PROCESSES
    names = [f"web server {number}" for number in range(1, n + 1)] if n > 1 else ["the web server"]
    return [Child(name, command, environment(), log, listening) for name in names]


def worker(log: Path | None = None) -> Child:
    """Return a worker that works on one run at a time, in its own process."""
    command = [
        *(sys.executable, "-m", "celery", "--quiet", "-A", "crowdgrade", "worker"),
        *("--pool=solo", "--loglevel=WARNING", "--without-gossip", "--without-mingle"),
    ]
    return Child("the worker", command, environment(), log)
