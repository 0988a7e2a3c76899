"""The installation of a chaos run: `manage.py up` with its database and broker behind proxies."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from tests.attack.site import PASSWORD, SEED, Site
from tests.chaos.services import list_descendants
from tests.evaluation.runs.background.scratch import Console, wait_until

CLOCK = Path(__file__).with_name("clock.c")
MODELS = "127.0.0.0/8"


class ChaosSite(Site):
    """Installation whose processes are killed and whose clock jumps.

    `has_clock` tells whether the clock can be moved. `direct` is the address of the database past
    the proxy, which the checks after the faults use.
    """

    def __init__(
        self, home: Path, database: str | None, more: Mapping[str, str], direct: str | None = None
    ) -> None:
        own = {
            "CROWDGRADE_MODEL_NETWORKS": MODELS,
            "LEASE_SECONDS": "15",
            "LINK_RATE": "9999/minute",
        }
        super().__init__(home, database, {**own, **more})
        self.direct = direct
        self._reading, self._reader = threading.Lock(), None
        self.clock = home.parent / f"{home.name}.clock"
        self.set_clock(0)
        library = build_clock(home.parent)
        self.has_clock = library is not None
        if library is not None:
            self.environment |= {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self.clock)}

    def fill(self) -> None:
        """Make tables, users and question sets, as `Site.fill` does, past the proxies."""
        environment = dict(self.environment)
        self.environment = self.checking_environment()
        try:
            self.manage("migrate", "--verbosity=0")
            self.people = self.python(SEED, PASSWORD=PASSWORD)
        finally:
            self.environment = environment

    def checking_environment(self) -> dict[str, str]:
        """Return the environment of a process that reads past proxies and with the true clock."""
        found = {key: value for key, value in self.environment.items() if key != "LD_PRELOAD"}
        return found | ({"DATABASE_URL": self.direct} if self.direct else {})

    def read(self, code: str, **names: object):
        """Run code that sets `result` past the proxies, from any thread; return the result."""
        with self._reading:
            if self._reader is None:
                self._reader = Console(self.checking_environment())
            return self._reader.run(code, names)

    def close(self) -> None:
        """End all processes."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        super().close()

    def set_clock(self, seconds: int) -> None:
        """Move the clock of all processes by so many seconds from the true time."""
        self.clock.write_text(str(seconds))

    def list_children(self, command: str) -> list[int]:
        """Return the process ids of the children with this word in their command line."""
        return [pid for pid in self.children() if command in _read_command(pid)]

    def kill_children_with(self, command: str) -> None:
        """End these children as a power failure would. The supervisor starts them again."""
        for pid in self.list_children(command):
            for one in (*list_descendants(pid), pid):
                _kill(one)

    def kill_all(self) -> None:
        """End the supervisor and all its processes."""
        below = [one for pid in self.children() for one in (*list_descendants(pid), pid)]
        for pid in (self.up.pid, *below):
            _kill(pid)
        self.up.wait()

    def wait_for_page(self, seconds: float) -> None:
        """Wait until it shows a page."""
        wait_until(self.answers, seconds, "the site showed a page", self.log)


def build_clock(folder: Path) -> Path | None:
    """Compile the library that moves the clock; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "clock.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def _read_command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
