"""Embedded message broker: kombu's file transport, with atomic writes.

A message file, and the table of queues of an exchange, is written completely or not at all, even if
the disk is full or the process is killed. A damaged file (of an older version, or edited by hand)
is removed with a warning: a lost message delays a run by seconds, while a background process that
fails on it repeatedly stops every run.
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

from crowdgrade.home import create_private_folder

logger = logging.getLogger(__name__)

# Suffix of a file that is being written; readers ignore it.
UNFINISHED = ".tmp"


class Channel(filesystem.Channel):
    """Channel on the same files as kombu's `filesystem` channel, with atomic writes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        create_private_folder(Path(self.data_folder_in))

    # The library's types of these three methods contradict each other.
    def _put(  # type: ignore[override]
        self, queue: str, payload: dict[str, Any], **_: Any
    ) -> None:
        """Append a message to a queue; raise RecoverableConnectionError if it cannot be written.

        File names begin with the monotonic time, so that sorting them gives the order.
        """
        # Padded to 20 digits, the most of a 64-bit number, because names are sorted as texts.
        name = f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        _write_file(Path(self.data_folder_out) / name, payload)

    def _get(self, queue: str) -> dict[str, Any]:  # type: ignore[override]
        """Remove and return a queue's first readable message; raise Empty if there is none."""
        for path in sorted(Path(self.data_folder_in).iterdir()):
            # An unfinished file begins with a dot and ends in UNFINISHED, so it never matches here.
            if path.name.partition(".")[2] != f"{queue}.msg":
                continue
            try:
                written = path.read_bytes()
                # If two background processes read the file, only one can unlink it.
                path.unlink()
            except OSError:
                continue
            try:
                payload = loads(written)
            except ValueError:
                payload = None
            if isinstance(payload, dict):
                return payload
            logger.warning("an incomplete message is set aside: %s", path.name)
        raise Empty

    def get_table(  # type: ignore[override]
        self, exchange: str
    ) -> list[exchange_queue_t]:
        """Return the queues bound to an exchange; [] if their table file is damaged."""
        return _read_table(self._build_table_path(exchange))

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        """Add a queue to the table file of an exchange."""
        entry = exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._update_table(exchange) as table:
            if entry not in table:
                table.insert(0, entry)

    def _delete(
        self, queue: str, exchange: str, routing_key: str, pattern: str, *args: Any, **kwargs: Any
    ) -> None:
        """Delete a queue with its messages, and remove it from its exchange's table."""
        # Skips kombu's `filesystem` method, which writes in place; its parent empties the queue.
        super(filesystem.Channel, self)._delete(
            queue, exchange, routing_key, pattern, *args, **kwargs
        )
        entry = exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._update_table(exchange) as table:
            if entry in table:
                table.remove(entry)

    def _build_table_path(self, exchange: str) -> Path:
        """Return the path of an exchange's table; kombu refuses names that leave the folder."""
        path: Path = self._exchange_file(exchange)  # type: ignore[attr-defined]
        return path

    @contextlib.contextmanager
    def _update_table(self, exchange: str) -> Iterator[list[exchange_queue_t]]:
        """Yield an exchange's table of queues under a lock; write it if it changed."""
        path = self._build_table_path(exchange)
        try:
            create_private_folder(path.parent)
            # A separate lock file, because the table itself is replaced by renaming.
            with (path.parent / ".lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                table = _read_table(path)
                before = list(table)
                yield table
                if table != before:
                    _write_file(path, table)
        except OSError as error:
            raise _build_retry_error(path, error) from error


class Transport(filesystem.Transport):
    """Kombu's `filesystem` transport with atomic writes."""

    Channel = Channel


def _read_table(path: Path) -> list[exchange_queue_t]:
    """Return the queues in a table file; [] if it does not exist or is damaged."""
    try:
        return [exchange_queue_t(*entry) for entry in loads(path.read_bytes())]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _build_retry_error(path, error) from error
    except (ValueError, TypeError):
        logger.warning("a list of queues that was torn is written anew: %s", path)
        return []


def _write_file(path: Path, content: Any) -> None:
    """Write a file atomically, by renaming; on an error leave no file and raise."""
    # In the same folder, because a rename is atomic only within one file system. No fsync: a
    # message lost in a power failure delays a run by seconds.
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}{UNFINISHED}")
    try:
        try:
            with fresh.open("wb") as file:
                file.write(dumps(content).encode())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise _build_retry_error(path, error) from error


def _build_retry_error(path: Path, error: OSError) -> RecoverableConnectionError:
    """Return an error after which kombu retries, as the file may be writable later."""
    return RecoverableConnectionError(f"{path}: {error.strerror}")
