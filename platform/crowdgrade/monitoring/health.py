"""Checks of what a web server needs: database, migrations, broker and disk.

Each check runs in threads of its own and has a time limit, because a broker or database that does
not answer would otherwise block this check, and after a while the others too.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from celery import current_app
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

logger = logging.getLogger(__name__)

OK, FAILED, TIMEOUT = "ok", "failed", "timeout"
SECONDS: Final = 3.0
"""Time limit of each check."""
THREADS: Final = 2
"""Threads of each check. Those that hang are kept, so that no more than these ever hang."""


class NotReadyError(Exception):
    """Error: a health check failed; the text is a reason without secrets."""


@dataclass(frozen=True)
class CheckResult:
    """Result of one health check.

    Attributes
    ----------
    state : OK, FAILED or TIMEOUT.
    reason : why the state is not OK, without addresses and secrets; "" for OK.
    seconds : duration of the check.
    timeout : time limit in seconds.
    """

    state: str
    reason: str
    seconds: float
    timeout: float


def check_database() -> None:
    """Raise an error if the database does not answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def check_migrations() -> None:
    """Raise `NotReadyError` if the database lacks migrations of this version."""
    applied = MigrationRecorder(connection).applied_migrations()
    missing = [
        ".".join(migration) for migration in _list_last_migrations() if migration not in applied
    ]
    if missing:
        raise NotReadyError(f"not migrated: {', '.join(missing)}")


@cache
def _list_last_migrations() -> list[tuple[str, str]]:
    """Return (app, name) of each app's last migration."""
    return sorted(MigrationLoader(None).graph.leaf_nodes())


def check_broker() -> None:
    """Raise an error if the broker accepts no connection."""
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=int(SECONDS))
        # The broker of files makes its folder with the channel.
        _ = broker.default_channel


def check_disk() -> None:
    """Raise `NotReadyError` if the disk of CROWDGRADE_HOME is nearly full."""
    home = Path(settings.HOME)
    existing = next(folder for folder in (home, *home.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    if free < settings.READY_FREE_BYTES:
        raise NotReadyError(f"{free // 1024**2} MB free of {settings.READY_FREE_BYTES // 1024**2}")


CHECKS: Final[Mapping[str, Callable[[], None]]] = {
    "database": check_database,
    "migrations": check_migrations,
    "broker": check_broker,
    "disk": check_disk,
}
ON_DATABASE: Final = ("database", "migrations")


@cache
def _get_thread_pool(name: str) -> ThreadPoolExecutor:
    """Return the thread pool of a health check, created once."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix=f"health-{name}")


def run_checks(seconds: float = SECONDS) -> dict[str, CheckResult]:
    """Return the result of each health check by name; all run at the same time."""
    began = time.monotonic()
    futures = {name: _get_thread_pool(name).submit(partial(_run_check, name)) for name in CHECKS}
    return {name: _wait_for_check(name, future, began, seconds) for name, future in futures.items()}


def _run_check(name: str) -> float:
    """Run a health check and return the seconds it took."""
    began = time.monotonic()
    try:
        CHECKS[name]()
    finally:
        if name in ON_DATABASE:
            # Of this thread alone: the next check sees whether a new connection is possible.
            connection.close()
    return time.monotonic() - began


def _wait_for_check(name: str, future: Future[float], began: float, seconds: float) -> CheckResult:
    """Return the result of a check when it ends; with state TIMEOUT if it takes too long."""
    try:
        taken = future.result(max(0.0, began + seconds - time.monotonic()))
    except TimeoutError:
        future.cancel()
        return CheckResult(TIMEOUT, f"no answer within {seconds:g} s", seconds, seconds)
    except NotReadyError as error:
        return _build_failed_result(str(error), began, seconds)
    except Exception as error:
        # The text may hold the address of a server or a user's name: it goes to the log only.
        logger.warning("the health check of the %s failed: %s", name, error)
        return _build_failed_result(type(error).__name__, began, seconds)
    return CheckResult(OK, "", round(taken, 4), seconds)


def _build_failed_result(reason: str, began: float, seconds: float) -> CheckResult:
    """Return the result of a failed check."""
    return CheckResult(FAILED, reason, round(time.monotonic() - began, 4), seconds)


def build_readiness_report(checks: Mapping[str, CheckResult]) -> dict[str, Any]:
    """Return the content of `/health/ready`: the state of the site, and each check's result."""
    ready = all(check.state == OK for check in checks.values())
    return {
        "state": "ready" if ready else "not ready",
        "checks": {name: asdict(check) for name, check in checks.items()},
    }
