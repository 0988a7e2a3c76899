"""The embedded broker: kombu's messages in files, which a full disk or a kill never leaves torn.

A message, and the list of who listens, appears as a whole or not at all. What is torn all the same
(by an older version, or by hand) is put away and told, for a doorbell that rang in vain costs
seconds, and a worker that ends over it again and again costs every run.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

from amqp.exceptions import RecoverableConnectionError
from kombu.transport import filesystem
from kombu.transport.filesystem import exchange_queue_t
from kombu.utils.json import dumps, loads

from crowdgrade.home import private_folder

logger = logging.getLogger(__name__)

# Ends what is being written: neither a message nor a list.
UNFINISHED = ".tmp"


class Channel(filesystem.Channel):
    """Reads and writes the files of kombu's transport of that name; either may do the other's."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        private_folder(Path(self.data_folder_in))

    # (The library's own types disagree on these three among themselves.)
    def _put(  # type: ignore[override]
        self, queue: str, payload: dict[str, Any], **_: Any
    ) -> None:
        """Add a message, last in its queue; a connection's error where the disk takes it not."""
        name = f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        _write(Path(self.data_folder_out) / name, payload)

    def _get(self, queue: str) -> dict[str, Any]:  # type: ignore[override]
        """Take the first message that can be read; raises Empty where there is none."""
        for path in sorted(Path(self.data_folder_in).iterdir()):
            if path.name.partition(".")[2] != f"{queue}.msg":
                continue
            try:
                written = path.read_bytes()
                # Of two workers that read it only one can take it away.
                path.unlink()
            except OSError:
                continue
            try:
                payload = loads(written)
            except ValueError:
                payload = None
            if isinstance(payload, dict):
                return payload
            logger.warning("a message that was torn is put away: %s", path.name)
        raise Empty

    def get_table(  # type: ignore[override]
        self, exchange: str
    ) -> list[exchange_queue_t]:
        """Return who listens to an exchange; nobody where the list is torn."""
        return _read(self._path(exchange))

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        entry = exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._changed(exchange) as table:
            if entry not in table:
                table.insert(0, entry)

    def _delete(
        self, queue: str, exchange: str, routing_key: str, pattern: str, *args: Any, **kwargs: Any
    ) -> None:
        # Not kombu's own, which writes in place; what stands above it empties the queue.
        super(filesystem.Channel, self)._delete(
            queue, exchange, routing_key, pattern, *args, **kwargs
        )
        entry = exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._changed(exchange) as table:
            if entry in table:
                table.remove(entry)

    def _path(self, exchange: str) -> Path:
        """Return where an exchange's list is; kombu refuses names that lead elsewhere."""
        path: Path = self._exchange_file(exchange)  # type: ignore[attr-defined]
        return path

    @contextlib.contextmanager
    def _changed(self, exchange: str) -> Iterator[list[exchange_queue_t]]:
        """Hand out the list of an exchange, and keep what the block makes of it."""
        path = self._path(exchange)
        try:
            private_folder(path.parent)
            with (path.parent / ".lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                table = _read(path)
                before = list(table)
                yield table
                if table != before:
                    _write(path, table)
        except OSError as error:
            raise _refused(path, error) from error


class Transport(filesystem.Transport):
    """Kombu's `filesystem`, with files that are whole."""

    Channel = Channel


def _read(path: Path) -> list[exchange_queue_t]:
    try:
        return [exchange_queue_t(*entry) for entry in loads(path.read_bytes())]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _refused(path, error) from error
    except (ValueError, TypeError):
        logger.warning("a list of queues that was torn is written anew: %s", path)
        return []


def _write(path: Path, content: Any) -> None:
    """Have the file appear with all of its content; else raise, and leave none."""
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}{UNFINISHED}")
    try:
        try:
            with fresh.open("wb") as file:
                file.write(dumps(content).encode())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> RecoverableConnectionError:
    """Return the error after which kombu and its workers try again, which this one deserves."""
    return RecoverableConnectionError(f"{path}: {error.strerror}")
