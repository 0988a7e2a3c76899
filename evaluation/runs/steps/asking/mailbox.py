"""Pass replies from the thread that asks models to the thread that writes to the database."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from evaluation.runs.flow.asking.plan import Planned
from evaluation.runs.flow.asking.store import KeptReply

# Replies that are written in one transaction.
AT_ONCE = 500

AskingT = TypeVar("AskingT")


class MailboxClosedError(OSError):
    """The reply cannot be stored: the writing thread takes no more replies."""


@dataclass(frozen=True)
class Post(Generic[AskingT]):
    """A reply on its way to the database, or the key of a stored one to copy (`source`).

    `asking` is what it was asked for: a model with its requests.
    """

    asking: AskingT
    planned: Planned
    kept: KeptReply | None
    source: int | None
    written: asyncio.Future[None]


class Mailbox(Generic[AskingT]):
    """Queue of replies from the asking thread to the thread that writes to the database."""

    def __init__(self) -> None:
        self._posts: queue.SimpleQueue[Post[AskingT]] = queue.SimpleQueue()
        self._closed = False

    def put(
        self, asking: AskingT, planned: Planned, kept: KeptReply | None, source: int | None = None
    ) -> asyncio.Future[None]:
        """Queue a reply; the returned future is done when the reply is committed."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._closed:
            raise MailboxClosedError("the replies are not written any more")
        self._posts.put(Post(asking, planned, kept, source, written))
        return written

    def take(self, seconds: float) -> list[Post[AskingT]]:
        """Return up to `AT_ONCE` queued replies, waiting at most `seconds` for the first."""
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
        """Refuse further replies: later `put` calls raise MailboxClosedError."""
        self._closed = True


def settle(posts: Iterable[Post[AskingT]], error: OSError | None = None) -> None:
    """Complete the future of each queued reply: as committed, or with the error."""
    for post in posts:

        def tell(written: asyncio.Future[None] = post.written) -> None:
            if written.done():
                return
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

        try:
            # A future may be set only in the thread of its own event loop.
            post.written.get_loop().call_soon_threadsafe(tell)
        except RuntimeError:  # the asking has ended
            return
