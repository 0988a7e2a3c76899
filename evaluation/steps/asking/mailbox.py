"""Replies on their way from the thread that asks to the one that talks to the database."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from evaluation.flow.asking.plan import Planned
from evaluation.flow.asking.store import Kept

# Replies that are written in one transaction.
AT_ONCE = 500

Of = TypeVar("Of")


class MailboxClosedError(OSError):
    """Nobody writes what comes any more."""


@dataclass(frozen=True)
class Post(Generic[Of]):
    """A reply on its way into the database, or the key of a stored one to copy (`source`).

    `asking` is what it was asked for: a model with its requests.
    """

    asking: Of
    planned: Planned
    kept: Kept | None
    source: int | None
    written: asyncio.Future[None]


class Mailbox(Generic[Of]):
    """From the asking's thread to the one that writes."""

    def __init__(self) -> None:
        self._posts: queue.SimpleQueue[Post[Of]] = queue.SimpleQueue()
        self._closed = False

    def put(
        self, asking: Of, planned: Planned, kept: Kept | None, source: int | None = None
    ) -> asyncio.Future[None]:
        """Hand a reply over; awaited, it returns once the reply is committed."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._closed:
            raise MailboxClosedError("the replies are not written any more")
        self._posts.put(Post(asking, planned, kept, source, written))
        return written

    def take(self, seconds: float) -> list[Post[Of]]:
        """Return what came, at most `AT_ONCE`; waits for the first of them at most so long."""
        try:
            found = [self._posts.get(timeout=seconds)]
        except queue.Empty:
            return []
        while len(found) < AT_ONCE:
            try:
                found.append(self._posts.get_nowait())
            except queue.Empty:
                break
        return found

    def close(self) -> None:
        """Take nothing more."""
        self._closed = True


def settle(posts: Iterable[Post[Of]], error: OSError | None = None) -> None:
    """Tell the asking that its replies are committed, or why they are not."""
    for post in posts:

        def tell(written: asyncio.Future[None] = post.written) -> None:
            if written.done():
                return
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

        try:
            post.written.get_loop().call_soon_threadsafe(tell)
        except RuntimeError:  # the asking has ended
            return
