"""Stacks of a chaos run: database and broker, with the faults that each can have."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.faults import Fault, list_disk_faults, list_service_faults, list_site_faults
from tests.chaos.proxy import Proxy
from tests.chaos.services import PostgresServer, RabbitServer, RedisServer
from tests.chaos.site import ChaosSite
from tests.disks import Disk

DISK_MB = 400
BROKERS = {"redis": RedisServer, "rabbitmq": RabbitServer}


@dataclass(frozen=True)
class Stack:
    """A running installation, its faults, and the faults that this machine cannot make."""

    site: ChaosSite
    faults: list[Fault]
    left_out: list[str]


@contextmanager
def start_sqlite(folder: Path) -> Iterator[Stack]:
    """Run the embedded default: SQLite and messages in files, on a disk of its own if possible."""
    home = folder / "home"
    home.mkdir()
    with ExitStack() as ends:
        disk = ends.enter_context(_mount(home))
        site = ChaosSite(home, None, {})
        ends.callback(site.close)
        site.fill()
        site.start()
        faults, left_out = list_site_faults(site), list(_list_missing(site))
        if disk is None:
            left_out.append("disk full: this machine mounts no file system in memory")
        else:
            faults += list_disk_faults(disk)
        yield Stack(site, faults, left_out)


@contextmanager
def start_postgres(folder: Path, broker: str) -> Iterator[Stack]:
    """Run PostgreSQL with Redis or RabbitMQ; each is behind a proxy."""
    with ExitStack() as ends:
        database, queue = PostgresServer(folder / "postgres"), BROKERS[broker](folder / broker)
        for service in (database, queue):
            ends.callback(service.kill)
            service.start()
        to_database, to_queue = Proxy(database.port), Proxy(queue.port)
        ends.callback(to_database.close)
        ends.callback(to_queue.close)
        more = {"CELERY_BROKER_URL": queue.address(to_queue.port)}
        direct = database.address(database.port)
        site = ChaosSite(folder / "home", database.address(to_database.port), more, direct)
        ends.callback(site.close)
        site.fill()
        site.start()
        faults = [
            *list_site_faults(site),
            *list_service_faults("PostgreSQL", database, to_database),
            *list_service_faults(broker.capitalize(), queue, to_queue),
        ]
        yield Stack(site, faults, list(_list_missing(site)))


def _list_missing(site: ChaosSite) -> Iterator[str]:
    """Yield what this machine cannot do, with the reason."""
    if not site.has_clock:
        yield "clock jumps: no C compiler is installed"


@contextmanager
def _mount(folder: Path) -> Iterator[Disk | None]:
    """Mount a disk in memory at the folder; None if the system does not let us."""
    options = f"size={DISK_MB}m,mode=755"
    command = ["mount", "-t", "tmpfs", "-o", options, "crowdgrade-chaos", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    try:
        yield Disk(folder)
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)
