"""The two processes of the site: the web server and the worker."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
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


def web(host: str, port: int, log: Path | None = None) -> Child:
    """Return the web server; `log` takes what it says, None leaves it on the terminal."""
    command = [sys.executable, "-m", "crowdgrade.web_server", host, str(port)]
    return Child("the web server", command, environment(), log)


def worker(log: Path | None = None) -> Child:
    """Return a worker that works on one run at a time, in its own process."""
    command = [
        *(sys.executable, "-m", "celery", "--quiet", "-A", "crowdgrade", "worker"),
        *("--pool=solo", "--loglevel=WARNING", "--without-gossip", "--without-mingle"),
    ]
    return Child("the worker", command, environment(), log)
