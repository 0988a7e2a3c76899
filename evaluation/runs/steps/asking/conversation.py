"""Ask several models within one turn: one thread asks, the turn's own thread writes replies.

What comes is written in short fenced transactions, all that came meanwhile in one, and the asking
waits until it is committed. Meanwhile the turn is looked at: whether it was cancelled or paused,
and whether its time is up.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from django.db import DatabaseError, transaction

from evaluation.runs.steps.asking.mailbox import Mailbox, MailboxClosedError, Post, settle
from evaluation.runs.steps.checkpoints import Turn

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_REPORTS = 1.0
# How long what is under way is waited for once the run is nobody's any more: it was paid for.
SECONDS_TO_COME_IN = 10.0
TRIES = 3
"""Of one transaction, where the database is busy."""

WorkT = TypeVar("WorkT")
AskingT = TypeVar("AskingT")


class Conversation(ABC, Generic[WorkT, AskingT]):
    """Base class that asks several models at the same time and stores their replies.

    Attributes
    ----------
    stop, enough : for `evaluation.runs.flow.asking.asker.ask`; there once the asking has begun.
    """

    def __init__(self, turn: Turn, works: Sequence[WorkT]) -> None:
        self.turn, self.works = turn, works
        self.mailbox: Mailbox[AskingT] = Mailbox()
        self.stop: asyncio.Event
        self.enough: asyncio.Event
        self._loop: asyncio.AbstractEventLoop | None = None
        self._began = time.monotonic()
        self._reported = float("-inf")
        self._error: BaseException | None = None

    # In the thread that asks

    @abstractmethod
    async def ask(self, work: WorkT) -> None:
        """Ask one model for its replies, into the mailbox; an exception ends all asking."""

    # In the thread of the turn

    @abstractmethod
    def write(self, posts: Sequence[Post[AskingT]]) -> None:
        """Write replies, inside a transaction; existing rows stay as they are."""

    @abstractmethod
    def count(self, posts: Sequence[Post[AskingT]]) -> None:
        """Count replies after their transaction was committed."""

    @abstractmethod
    def report(self, seconds: float) -> None:
        """Store the progress, inside `Turn.fenced`, `seconds` after the asking began."""

    def is_over(self) -> bool:
        """Return whether no further request may begin in this turn."""
        return self.turn.is_over()

    def run_until_over(self) -> None:
        """Ask and write replies until all have arrived or the turn is over.

        Raises what ended it otherwise: a lost claim, a database that takes nothing.
        """
        thread = threading.Thread(target=self._run, name="asking", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                self._write_and_check()
            while posts := self.mailbox.take(0.0):
                self._write(posts)
        except BaseException:
            # Also after KeyboardInterrupt or SystemExit: requests under way are paid for.
            self._save_late_replies(thread)
            raise
        finally:
            self.mailbox.close()
            self._signal("stop")
            thread.join()
        if self._error is not None:
            raise self._error
        with self.turn.fenced():
            self._report()

    def _run(self) -> None:
        """Run the asking thread's event loop; keep its exception for the other thread."""
        try:
            asyncio.run(self._ask_all())
        except BaseException as error:  # the other thread raises it
            self._error = error

    async def _ask_all(self) -> None:
        """Ask all models concurrently; an exception of one cancels the others."""
        self.stop, self.enough = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            for work in self.works:
                tasks.create_task(self.ask(work))

    def _write_and_check(self) -> None:
        """Write replies that have arrived, report progress, check if the turn may go on."""
        self._write(self.mailbox.take(SECONDS_BETWEEN_LOOKS))
        self.turn.check()
        if self.is_over():
            self._signal("enough")

    def _write(self, posts: Sequence[Post[AskingT]]) -> None:
        """Commit replies, then count them and release the tasks that await them."""
        due = time.monotonic() - self._reported >= SECONDS_BETWEEN_REPORTS
        if not posts and not due:
            return
        try:
            self._commit(posts, due)
        except BaseException:
            self._save(posts)
            raise
        # After the commit: an asking task that goes on may rely on its reply being stored.
        self.count(posts)
        settle(posts)

    def _commit(self, posts: Sequence[Post[AskingT]], due: bool) -> None:
        """Write replies, and progress if due, in a fenced transaction with up to 3 tries."""
        for trial in range(1, TRIES + 1):
            try:
                with self.turn.fenced():
                    self.write(posts)
                    if due:
                        self._report()
                return
            except DatabaseError:
                if trial == TRIES:
                    raise
                time.sleep(trial / 2)

    def _report(self) -> None:
        """Store the progress, with the seconds since the asking began."""
        self._reported = time.monotonic()
        self.report(self._reported - self._began)

    def _save_late_replies(self, thread: threading.Thread) -> None:
        """Write replies that arrive up to 10 seconds after the end, as they were paid for."""
        ends = time.monotonic() + SECONDS_TO_COME_IN
        self._signal("enough")
        while thread.is_alive() and time.monotonic() < ends:
            self._save(self.mailbox.take(SECONDS_BETWEEN_LOOKS))
        self.mailbox.close()
        self._save(self.mailbox.take(0.0))

    def _save(self, posts: Sequence[Post[AskingT]]) -> None:
        """Write replies without the claim: they are valid whichever process has the run."""
        if not posts:
            return
        try:
            with transaction.atomic():
                self.write(posts)
        except DatabaseError as error:
            logger.warning("%d replies could not be stored: %s", len(posts), error)
            settle(posts, MailboxClosedError("the replies are not written any more"))
        else:
            settle(posts)

    def _signal(self, name: str) -> None:
        """Set the event named `name` in the asking thread's event loop."""
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it was closed just now
                self._loop.call_soon_threadsafe(getattr(self, name).set)
