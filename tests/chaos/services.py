"""PostgreSQL, Redis and RabbitMQ servers of a chaos run, each on a free port, killed at will.

They are not those of the machine, so that killing one harms nothing else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.workers import free_port
from tests.evaluation.runs.background.scratch import wait_until

SECONDS_TO_START = 90.0
POSTGRES_PROGRAMS = Path("/usr/lib/postgresql")
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


class MissingProgramError(Exception):
    """A server is not installed on this machine."""


class Service(ABC):
    """A server in its own folder; `start` waits until it takes connections."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return the command that serves in the foreground."""

    @abstractmethod
    def address(self, port: int) -> str:
        """Return the address for clients that connect to a port: the server's, or a proxy's."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Return whether the server answers."""

    def environment(self) -> dict[str, str]:
        """Return the environment of the process."""
        return dict(os.environ)

    def start(self) -> None:
        """Start the server on what is stored in its folder. Raises AssertionError if it ends."""
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                env=self.environment(),
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(
            self.is_ready, SECONDS_TO_START, f"{type(self).__name__} answered", self.read_log
        )

    def kill(self) -> None:
        """End the server and its children as a power failure would."""
        if self.process is None:
            return
        for pid in (*list_descendants(self.process.pid), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def read_log(self) -> str:
        """Return the end of the server's log."""
        return (self.folder / "server.log").read_text(errors="replace")[-2000:]


class PostgresServer(Service):
    """PostgreSQL with a cluster of its own; it refuses to run as root, so root changes the user."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        versions = sorted(POSTGRES_PROGRAMS.glob("*/bin/initdb"))
        if not versions:
            raise MissingProgramError("PostgreSQL's initdb is not installed")
        self.programs, self.data = versions[-1].parent, folder / "data"
        if os.getuid() == 0:
            # The server's user enters the temporary folders above its own.
            for parent in (folder, *folder.parents):
                if parent.stat().st_uid == 0 and parent != Path("/"):
                    parent.chmod(parent.stat().st_mode | 0o755)
            shutil.chown(folder, "postgres")
        self._call("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8")

    def _as_user(self, *command: str) -> list[str]:
        return ["runuser", "-u", "postgres", "--", *command] if os.getuid() == 0 else [*command]

    def _call(self, program: str, *arguments: str) -> None:
        subprocess.run(
            self._as_user(str(self.programs / program), *arguments), check=True, capture_output=True
        )

    def command(self) -> Sequence[str]:
        sockets = f"-k{self.folder}"
        options = ("-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1", sockets)
        return self._as_user(str(self.programs / "postgres"), *options)

    def address(self, port: int) -> str:
        return f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def is_ready(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address(self.port), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


class RedisServer(Service):
    """Redis that writes each message to its file before it answers."""

    def command(self) -> Sequence[str]:
        program = shutil.which("redis-server")
        if program is None:
            raise MissingProgramError("redis-server is not installed")
        stored = ("--appendonly", "yes", "--appendfsync", "always", "--dir", str(self.folder))
        return [program, "--port", str(self.port), "--bind", "127.0.0.1", *stored]

    def address(self, port: int) -> str:
        return f"redis://127.0.0.1:{port}/0"

    def is_ready(self) -> bool:
        from redis import Redis
        from redis.exceptions import RedisError

        try:
            with Redis(port=self.port, socket_timeout=2) as client:
                return bool(client.ping())
        except RedisError:
            return False


class RabbitServer(Service):
    """RabbitMQ node of its own name, without plugins."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        if not RABBITMQ.exists():
            raise MissingProgramError("rabbitmq-server is not installed")
        self.distribution_port = free_port()
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{self.port}\n")

    def environment(self) -> dict[str, str]:
        return os.environ | {
            "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"chaos-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self.distribution_port),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
        }

    def command(self) -> Sequence[str]:
        return [str(RABBITMQ)]

    def address(self, port: int) -> str:
        return f"amqp://guest:guest@127.0.0.1:{port}//"

    def is_ready(self) -> bool:
        from kombu import Connection
        from kombu.exceptions import OperationalError

        try:
            with Connection(self.address(self.port), connect_timeout=2) as connection:
                connection.ensure_connection(max_retries=1)
        except OperationalError:
            return False
        return True


def list_descendants(pid: int) -> list[int]:
    """Return the process ids below a process, the deepest first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    found = [int(child) for child in children]
    return [deeper for child in found for deeper in (*list_descendants(child), child)]
