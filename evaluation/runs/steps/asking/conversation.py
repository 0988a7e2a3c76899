"""Asking of several models within one turn: threads, mailbox and progress.

Pass replies from the thread that asks models to the thread that writes to the database. Store the
progress of each model of a run that asks, for the run's page.

Ask several models within one turn: one thread asks, the turn's own thread writes replies.

Replies are written in short fenced transactions, all that have arrived in one, and each request
waits until its reply is committed. Between transactions the turn is checked: whether the run was
cancelled or paused, and whether the turn's time is up.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from evaluation.models import LanguageModel, Run, RunData
from evaluation.runs.flow.asking.plan import PlannedRequest, RecordedReply
from evaluation.runs.flow.stored import Stored
from evaluation.runs.steps.checkpoints import Turn

# Replies that are written in one transaction.
AT_ONCE = 500

AskingT = TypeVar("AskingT")


class ReplyQueueClosedError(OSError):
    """Error: a reply cannot be stored, because the writing thread takes no more replies."""


@dataclass(frozen=True)
class PendingReply(Generic[AskingT]):
    """A reply to be written to the database, or the key of a stored reply to copy (`source`).

    `asking` is the reply's model with its planned requests.
    """

    asking: AskingT
    planned: PlannedRequest
    kept: RecordedReply | None
    source: int | None
    written: asyncio.Future[None]


@dataclass(frozen=True)
class PendingReservation:
    """A reservation of requests to a model that the turn's thread has to make.

    Attributes
    ----------
    count, seconds : number of requests, and the seconds between two of them.
    wait : future that gets the seconds until the first request.
    """

    model_id: int
    count: int
    seconds: float
    wait: asyncio.Future[float]


class ReplyQueue(Generic[AskingT]):
    """Queue of replies, from the thread that asks models to the thread that writes rows.

    Reservations of requests go the same way.
    """

    def __init__(self) -> None:
        # None announces a reservation.
        self._posts: queue.SimpleQueue[PendingReply[AskingT] | None] = queue.SimpleQueue()
        self._reservations: queue.SimpleQueue[PendingReservation] = queue.SimpleQueue()
        self._closed = False

    def queue_reservation(self, model_id: int, count: int, seconds: float) -> asyncio.Future[float]:
        """Queue a reservation of requests; the returned future gets the seconds until the first."""
        wait: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._reservations.put(PendingReservation(model_id, count, seconds, wait))
        self._posts.put(None)
        return wait

    def take_reservations(self) -> list[PendingReservation]:
        """Return the queued reservations, without waiting."""
        result = []
        with suppress(queue.Empty):
            while True:
                result.append(self._reservations.get_nowait())
        return result

    def put_reply(
        self,
        asking: AskingT,
        planned: PlannedRequest,
        kept: RecordedReply | None,
        source: int | None = None,
    ) -> asyncio.Future[None]:
        """Queue a reply; the returned future is done when the reply is committed."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._closed:
            raise ReplyQueueClosedError("the replies are not written any more")
        self._posts.put(PendingReply(asking, planned, kept, source, written))
        return written

    def take_replies(self, seconds: float) -> list[PendingReply[AskingT]]:
        """Return up to `AT_ONCE` queued replies, waiting at most `seconds` for the first."""
        try:
            result = [self._posts.get(timeout=seconds)]
        except queue.Empty:
            return []
        while len(result) < AT_ONCE:
            try:
                result.append(self._posts.get_nowait())
            except queue.Empty:
                break
        return [post for post in result if post is not None]

    def close(self) -> None:
        """Refuse further replies: later `put_reply` calls raise ReplyQueueClosedError."""
        self._closed = True


def complete_futures(posts: Iterable[PendingReply[AskingT]], error: OSError | None = None) -> None:
    """Complete the futures of queued replies, with the error if there is one."""
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


NAME = "models"
"""Under which it is put aside (`evaluation.models.RunData`)."""


@dataclass(frozen=True)
class ModelProgress(Stored):
    """Progress of one model of a run that asks: replies, errors, cost, and its end.

    Attributes
    ----------
    id : public id of the model.
    done, total : number of present replies (stored ones included), and of planned replies.
    asked : number of this run's requests that got a reply or an error; errors : number of errors.
    cost : cost of this run. seconds : duration of the requests.
    end : code of why the requests ended (`evaluation.runs.flow.asking.summary.ENDS`); "" while they
        continue. reason : why replies are missing.
    """

    id: str
    name: str
    done: int = 0
    total: int = 0
    asked: int = 0
    errors: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    end: str = ""
    reason: str = ""

    @property
    def percent(self) -> int | None:
        """Percentage of planned replies that have arrived; None without planned replies."""
        return int(100 * self.done / self.total) if self.total else None

    @property
    def rate(self) -> float | None:
        """Replies per second; None before the first reply."""
        return self.asked / self.seconds if self.asked and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds at this rate; None if ended or the rate is unknown."""
        if self.end or self.rate is None:
            return None
        return (self.total - self.done) / self.rate


def read_model_progress(run_id: int) -> list[ModelProgress]:
    """Return the stored progress of each model of a run; [] before the first report."""
    rows = RunData.objects.filter(run_id=run_id, name=NAME).values_list("data", flat=True)
    return [ModelProgress.from_json(one) for one in rows.first() or ()]


def store_model_progress(turn: Turn, models: Sequence[ModelProgress]) -> None:
    """Store the progress of the run's models; call it inside `Turn.open_fenced_transaction`."""
    turn.store_json(NAME, [model.as_dict() for model in models])


def read_progress_of_run(run: Run) -> list[ModelProgress]:
    """Return the stored progress of each model of a run, in the order of its options."""
    return read_model_progress(run.pk)


logger = logging.getLogger(__name__)


def reserve_requests(model_id: int, count: int, seconds: float) -> float:
    """Reserve requests to a model, `seconds` apart; return the seconds until the first one.

    Every process that asks the model reserves here, so that all of them together keep to the limit
    of requests per minute, by the clock of the database.
    """
    with transaction.atomic():
        model = LanguageModel.objects.select_for_update().filter(pk=model_id)
        following, now = model.annotate(now=Now()).values_list("next_request_at", "now").get()
        first = now if following is None else max(following, now)
        model.update(next_request_at=first + timedelta(seconds=count * seconds))
    return float((first - now).total_seconds())


SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_REPORTS = 1.0
# How long what is under way is waited for once the run is nobody's any more: it was paid for.
SECONDS_TO_COME_IN = 10.0
TRIES = 3
"""Of one transaction, where the database is busy."""

WorkT = TypeVar("WorkT")


class ConcurrentAsker(ABC, Generic[WorkT, AskingT]):
    """Base class that asks several models at the same time and stores their replies.

    Attributes
    ----------
    stop, enough : events for `evaluation.runs.flow.asking.asker.ask_model`, set up when it starts.
    """

    def __init__(self, turn: Turn, works: Sequence[WorkT]) -> None:
        self.turn, self.works = turn, works
        self.mailbox: ReplyQueue[AskingT] = ReplyQueue()
        self.stop: asyncio.Event
        self.enough: asyncio.Event
        self._loop: asyncio.AbstractEventLoop | None = None
        self._began = time.monotonic()
        self._reported = float("-inf")
        self._error: BaseException | None = None

    # In the thread that asks

    @abstractmethod
    async def ask_one_model(self, work: WorkT) -> None:
        """Ask one model for its replies and queue them; an exception ends all requests."""

    # In the thread of the turn

    @abstractmethod
    def write_reply_rows(self, posts: Sequence[PendingReply[AskingT]]) -> None:
        """Write replies as rows, inside a transaction; existing rows stay as they are."""

    @abstractmethod
    def count_replies(self, posts: Sequence[PendingReply[AskingT]]) -> None:
        """Count replies after their transaction was committed."""

    @abstractmethod
    def store_progress(self, seconds: float) -> None:
        """Store the progress `seconds` after the requests began, inside a fenced transaction."""

    def is_turn_over(self) -> bool:
        """Return whether the turn is over, so that no further request may begin."""
        return self.turn.is_over()

    def ask_until_over(self) -> None:
        """Ask and write replies until all have arrived or the turn is over.

        Raises any other error that ended it, such as a lost claim or a failing database.
        """
        thread = threading.Thread(target=self._run_event_loop, name="asking", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                self._write_and_check()
            # Replies that were queued between the last look and the end of the thread.
            while posts := self.mailbox.take_replies(0.0):
                self._commit_and_count(posts)
        except BaseException:
            # Also after KeyboardInterrupt or SystemExit: requests under way are paid for.
            self._save_late_replies(thread)
            raise
        finally:
            self.mailbox.close()
            self._set_event("stop")
            thread.join()
        if self._error is not None:
            raise self._error
        with self.turn.open_fenced_transaction():
            self._store_current_progress()

    def _run_event_loop(self) -> None:
        """Ask all models in an event loop; store an exception for the turn's thread to raise."""
        try:
            asyncio.run(self._ask_all_models())
        except BaseException as error:  # the other thread raises it
            self._error = error

    async def _ask_all_models(self) -> None:
        """Ask all models concurrently; an exception of one cancels the others."""
        self.stop, self.enough = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            for work in self.works:
                tasks.create_task(self.ask_one_model(work))

    def _write_and_check(self) -> None:
        """Write replies that have arrived, make reservations, and check that the turn may go on."""
        self._commit_and_count(self.mailbox.take_replies(SECONDS_BETWEEN_LOOKS))
        for reservation in self.mailbox.take_reservations():
            self._make_reservation(reservation)
        self.turn.check()
        if self.is_turn_over():
            self._set_event("enough")

    def _commit_and_count(self, posts: Sequence[PendingReply[AskingT]]) -> None:
        """Commit replies, then count them and complete the futures that await them."""
        due = time.monotonic() - self._reported >= SECONDS_BETWEEN_REPORTS
        if not posts and not due:
            return
        try:
            self._commit_replies(posts, due)
        except BaseException:
            self._save_without_claim(posts)
            raise
        # After the commit: an asking task that goes on may rely on its reply being stored.
        self.count_replies(posts)
        complete_futures(posts)

    def _commit_replies(self, posts: Sequence[PendingReply[AskingT]], due: bool) -> None:
        """Write replies, and progress if due, in a fenced transaction with up to 3 tries."""
        for trial in range(1, TRIES + 1):
            try:
                with self.turn.open_fenced_transaction():
                    self.write_reply_rows(posts)
                    if due:
                        self._store_current_progress()
                return
            except DatabaseError:
                if trial == TRIES:
                    raise
                time.sleep(trial / 2)

    def _make_reservation(self, reservation: PendingReservation) -> None:
        """Reserve requests to a model and complete the reservation's future; up to 3 tries."""
        wanted = reservation
        for trial in range(1, TRIES + 1):
            try:
                wait = reserve_requests(wanted.model_id, wanted.count, wanted.seconds)
                break
            except DatabaseError:
                if trial == TRIES:
                    raise
                time.sleep(trial / 2)

        def tell() -> None:
            if not wanted.wait.done():
                wanted.wait.set_result(wait)

        with suppress(RuntimeError):  # the asking has ended
            wanted.wait.get_loop().call_soon_threadsafe(tell)

    def _store_current_progress(self) -> None:
        """Store the progress, with the seconds since the asking began."""
        self._reported = time.monotonic()
        self.store_progress(self._reported - self._began)

    def _save_late_replies(self, thread: threading.Thread) -> None:
        """Write replies that arrive up to 10 seconds after the end, as they were paid for."""
        ends = time.monotonic() + SECONDS_TO_COME_IN
        self._set_event("enough")
        while thread.is_alive() and time.monotonic() < ends:
            self._save_without_claim(self.mailbox.take_replies(SECONDS_BETWEEN_LOOKS))
        self.mailbox.close()
        self._save_without_claim(self.mailbox.take_replies(0.0))

    def _save_without_claim(self, posts: Sequence[PendingReply[AskingT]]) -> None:
        """Write replies in a transaction that does not check the claim, as they were paid for."""
        if not posts:
            return
        try:
            with transaction.atomic():
                self.write_reply_rows(posts)
        except DatabaseError as error:
            logger.warning("%d replies could not be stored: %s", len(posts), error)
            complete_futures(posts, ReplyQueueClosedError("the replies are not written any more"))
        else:
            complete_futures(posts)

    def _set_event(self, name: str) -> None:
        """Set the event named `name` in the asking thread's event loop."""
        # An event of asyncio may be set only in the thread of its loop.
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it was closed just now
                self._loop.call_soon_threadsafe(getattr(self, name).set)
