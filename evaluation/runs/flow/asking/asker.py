"""Ask a model for all replies that a store lacks, at a limited pace (`pace`).

`ask_model` is the flow. Each task stores its reply before it sends its next request, so that at
most `at_once` requests are repeated if the process is killed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

import tenacity

from annotations.exchange.records import MISSING
from evaluation.core.backends.chat.contract import ChatModel, Fault, Reply
from evaluation.core.backends.server import RetryRules
from evaluation.runs.flow.asking.pace import Pace, Reserve
from evaluation.runs.flow.asking.plan import PlannedRequest, RecordedReply, ReplyStore, group_by_key
from evaluation.runs.flow.asking.summary import Budget, Prices, estimate_prompt_tokens

Progress = Callable[[int, int], None]
"""Called with (requests done, requests in all)."""

OF_THE_MODEL = frozenset(
    {"unauthorized", "not_found", "no_quota", "key", "address_refused", "redirect"}
)
"""Faults that the next request would meet as well, if they are the model's and not the item's."""
ENOUGH_IN_A_ROW = 5
ENOUGH_FAILURES = 25
"""Consecutive replies with any other transport error, each after all its attempts."""
BUSY_IN_A_ROW = 10
"""Consecutive refused attempts after which all requests pause, not only the refused ones."""
BUDGET_USED_UP = "the budget does not reach for the next request"
"""Why the asking of a model ended, where its price is more than is left."""
LOOK_AGAIN = 0.2
"""Seconds after which a budget that others use too is looked at again."""


class _AskingEndedError(Exception):
    """Error: the requests to a model were ended before this one was sent."""


class EndReason(StrEnum):
    """Reason why the requests to a model ended, such as done, interrupted or out of budget."""

    DONE = "done"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    TIME = "time"
    GIVEN_UP = "given_up"
    STORE = "store"


@dataclass(frozen=True)
class RequestSettings:
    """Settings of requests to a model: concurrency, retries, rate limits and time limit.

    Attributes
    ----------
    at_once : largest number of concurrent requests.
    patience : attempts, timeout and waits of each request.
    requests_a_minute, tokens_a_minute : limits per minute; None for no limit.
    seconds : time after which no request is begun; None for no limit. Requests already sent are
        awaited, but not repeated.
    stop_at_error : whether the first ERROR ends the asking.
    """

    at_once: int = 8
    patience: RetryRules = field(default_factory=RetryRules)
    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None
    seconds: float | None = None
    stop_at_error: bool = False


@dataclass
class Outcome:
    """Result of the requests to a model: counts of replies and errors, attempts, cost, and end.

    `n_planned` == `n_stored` + sum of `statuses` + `n_left`. `statuses` counts the items of each
    status, `n_asked` the requests that got a reply or an ERROR, `n_attempts` all attempts, also of
    requests that ran out of time. `last_fault` is the latest fault of any attempt; `messages` has
    the first message of each fault code in `faults`.
    """

    n_planned: int = 0
    n_stored: int = 0
    n_asked: int = 0
    n_attempts: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    cost: float = 0.0
    seconds: float = 0.0
    end: EndReason = EndReason.DONE
    reason: str = ""
    last_fault: str = ""

    @property
    def n_left(self) -> int:
        """Number of replies that were not requested."""
        return self.n_planned - self.n_stored - self.statuses.total()

    @property
    def complete(self) -> bool:
        """Whether every reply is a text, empty or a refusal; none an error or cut off."""
        return not self.n_left and not any(self.statuses[status] for status in MISSING)


async def ask_model(
    model: ChatModel,
    planned: Sequence[PlannedRequest],
    store: ReplyStore,
    settings: RequestSettings,
    budget: Budget | None = None,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
    enough: asyncio.Event | None = None,
    reserve: Reserve | None = None,
) -> Outcome:
    """Send all requests that have no stored reply, and store each reply; return the outcome.

    Ends early, with the replies so far stored, if the budget or the time is used up, `stop` is set,
    the store fails, or the model is given up after repeated faults (the other requests then get an
    ERROR). The event `enough` ends the time as `settings.seconds` does; the event `stop` also
    cancels the requests already sent. `reserve` shares the requests per minute with other
    processes. Raises ChatError if the back-end cannot be opened.
    """
    asker = _Asker(model, store, settings, budget or Budget(Prices()), progress, reserve)
    asker.outcome.n_planned = len(planned)
    begin = time.monotonic()
    waiting = await asker.find_missing_replies(planned)
    try:
        if waiting:
            await asker.ask_groups_concurrently(
                waiting, stop or asyncio.Event(), enough or asyncio.Event()
            )
    finally:
        asker.outcome.seconds = time.monotonic() - begin
    return asker.outcome


class _Asker:
    """Sends requests to a model: concurrent requests, pace, budget, and consecutive faults."""

    def __init__(
        self,
        model: ChatModel,
        store: ReplyStore,
        settings: RequestSettings,
        budget: Budget,
        progress: Progress | None,
        reserve: Reserve | None,
    ) -> None:
        self.model, self.store, self.settings, self.budget = model, store, settings, budget
        self.progress = progress
        self.outcome = Outcome()
        self.pace = Pace(settings.requests_a_minute, settings.tokens_a_minute, reserve)
        self.at_once = min(settings.at_once, model.at_once or settings.at_once)
        self._settled = asyncio.Event()
        self._over = asyncio.Event()
        self._left: list[list[PlannedRequest]] = []
        self._faults_in_a_row: list[Fault] = []
        self._busy_in_a_row = 0
        self._last_success = 0.0
        patience = settings.patience
        first = patience.first_wait
        self._backoff = tenacity.wait_exponential(
            first, max=patience.longest_wait
        ) + tenacity.wait_random(0, first)

    async def find_missing_replies(
        self, planned: Sequence[PlannedRequest]
    ) -> list[list[PlannedRequest]]:
        """Return the requests that lack a reply, grouped by key; copy known replies to others."""
        waiting, copied = [], []
        for group in group_by_key([entry for entry in planned if not self.store.has_reply(entry)]):
            if not self.store.knows_key(group[0].key):
                waiting.append(group)
            else:
                copied += group
        try:
            await _await_stored([self.store.copy_known_reply(entry) for entry in copied])
        except OSError as error:
            self._end_for_store_error(error)
            return []
        self.outcome.n_stored = len(planned) - sum(map(len, waiting))
        self._report_progress()
        return waiting

    async def ask_groups_concurrently(
        self, waiting: list[list[PlannedRequest]], stop: asyncio.Event, enough: asyncio.Event
    ) -> None:
        """Send all groups of requests, `at_once` at a time, until done or a limit is reached."""
        # One iterator for all tasks: each takes the next group, so that none is sent twice.
        groups = iter(waiting)
        if self.settings.seconds is not None and self.settings.seconds <= 0:
            self._end_asking(EndReason.TIME, "the time is used up")
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.model.close)
            # The back-end opens after the exit callback is registered, so a failure still closes
            # it.
            await self.model.open(self.at_once)
            async with asyncio.TaskGroup() as tasks:
                workers = [
                    tasks.create_task(self._ask_groups(groups))
                    for _ in range(min(self.at_once, len(waiting)))
                ]
                watchers = [
                    tasks.create_task(self._end_when_stopped(stop, workers)),
                    tasks.create_task(self._end_when_time_is_up(enough)),
                ]
                await asyncio.wait(workers)
                # They wait for events that may never come.
                for watcher in watchers:
                    watcher.cancel()
        if self.outcome.end is EndReason.GIVEN_UP:
            fault = Fault("not_asked", f"not asked: {self.outcome.reason}")
            kept = RecordedReply(Reply.from_fault(fault), attempts=0)
            await asyncio.gather(
                *(self._store_group_reply(group, kept) for group in [*self._left, *groups])
            )

    async def _end_when_time_is_up(self, enough: asyncio.Event) -> None:
        """End the requests when their time is over or the event `enough` is set."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.seconds):
                await enough.wait()
        self._end_asking(EndReason.TIME, "the time is used up")

    async def _end_when_stopped(
        self, stop: asyncio.Event, workers: list[asyncio.Task[None]]
    ) -> None:
        """End the requests and cancel their tasks when the event `stop` is set."""
        await stop.wait()
        self._end_asking(EndReason.INTERRUPTED, "interrupted")
        for worker in workers:
            worker.cancel()

    async def _ask_groups(self, groups: object) -> None:
        """Send one group of requests after another until none is left or the requests are ended."""
        for group in groups:  # type: ignore[attr-defined]
            if self._has_ended() or not await self._ask_group(group):
                return

    def _has_ended(self) -> bool:
        """Return whether the requests have been ended."""
        return self.outcome.end is not EndReason.DONE

    async def _ask_group(self, group: list[PlannedRequest]) -> bool:
        """Send one group's request and store its reply; return False if the requests are ended."""
        request = group[0].request
        price = self.budget.compute_highest_price(request)
        while not self.budget.can_spend(price):
            if not self.budget.under_way:
                self._end_asking(EndReason.BUDGET, BUDGET_USED_UP)
                return False
            self._settled.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN):
                    await self._settled.wait()
            if self._has_ended():
                self._left.append(group)
                return False
        # Reserved before it is sent: concurrent requests could otherwise exceed the budget
        # together.
        self.budget.reserve_price(price)
        began = time.monotonic()
        reply: Reply | None = None
        try:
            reply, attempts, seconds = await self._send_with_retries(group[0])
        except _AskingEndedError:
            self._left.append(group)
            return False
        finally:
            # Also after a cancellation: a reservation that is never settled would lower the budget.
            failed = Reply.from_fault(Fault("cancelled", "cancelled"))
            cost = self.budget.settle_cost(price, request, reply or failed)
            self._settled.set()
        self.outcome.cost += cost
        if self.outcome.end is EndReason.TIME and reply.fault is not None and reply.fault.again:
            return False  # it may pass: another time
        self.outcome.n_asked += 1
        if not await self._store_group_reply(group, RecordedReply(reply, attempts, seconds, cost)):
            return False
        self._give_up_if_faulty(reply.fault, began)
        return not self._has_ended()

    async def _send_with_retries(self, planned: PlannedRequest) -> tuple[Reply, int, float]:
        """Send one request, with retries of temporary errors; return reply, attempts, seconds."""
        tokens = estimate_prompt_tokens(planned.request)
        attempts, seconds = 0, 0.0
        reply = Reply.from_fault(Fault("not_asked", "not asked"))

        async def once() -> Reply:
            nonlocal attempts, seconds, reply
            if not await self._wait_for_turn(tokens):
                if not attempts:
                    raise _AskingEndedError
                return reply  # of the attempt before: there is no other
            attempts += 1
            self.outcome.n_attempts += 1
            began = time.monotonic()
            reply = await self.model.reply(planned.request)
            seconds = time.monotonic() - began
            self._adapt_pace(reply, tokens, attempts)
            return reply

        again = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_result(self._should_retry),
            stop=tenacity.stop_after_attempt(self.settings.patience.attempts),
            wait=self._compute_retry_wait,
            sleep=self._wait_unless_ended,
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        reply = await again(once)
        if reply.fault is not None and reply.fault.again and attempts > 1:
            message = f"{reply.fault.message}, {attempts} times in a row"
            reply = replace(reply, fault=replace(reply.fault, message=message))
        return reply, attempts, seconds

    async def _wait_for_turn(self, tokens: int) -> bool:
        """Wait until a request may be sent; return False if the requests are ended."""
        if self._over.is_set():
            return False
        if self.pace.is_open:
            return True
        turn = asyncio.ensure_future(self.pace.wait_for_turn(tokens))
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([turn, over], return_when=asyncio.FIRST_COMPLETED)
            return turn.done()
        finally:
            turn.cancel()
            over.cancel()

    async def _wait_unless_ended(self, seconds: float) -> None:
        """Wait for some seconds, or until the requests are ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

    def _should_retry(self, reply: Reply) -> bool:
        """Return whether to send a request again: the error may pass, requests are not ended."""
        return reply.fault is not None and reply.fault.again and self.outcome.end is EndReason.DONE

    def _compute_retry_wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds before the next attempt: those that the server set, else a backoff."""
        fault = state.outcome.result().fault if state.outcome else None
        if fault is not None and fault.wait is not None:
            # Not all at the same moment, and never before the server said.
            return float(fault.wait + tenacity.wait_random(0, 0.05 + 0.1 * fault.wait)(state))
        return float(self._backoff(state))

    def _adapt_pace(self, reply: Reply, tokens: int, attempt: int) -> None:
        """Pause all requests if the server is down, busy or close to its rate limit."""
        self.pace.pause_if_exhausted(reply.allowance, tokens)
        fault = reply.fault
        self.outcome.last_fault = "" if fault is None else fault.message
        if fault is None or not fault.again:
            self._busy_in_a_row = 0
            self._last_success = time.monotonic()
            return
        self._busy_in_a_row += 1
        if fault.code == "connection" or self._busy_in_a_row >= BUSY_IN_A_ROW:
            self.pace.pause_requests(self.settings.patience.compute_wait(attempt, fault.wait))

    def _give_up_if_faulty(self, fault: Fault | None, began: float) -> None:
        """End the requests if consecutive faults are those of the model, not of single items."""
        if fault is None:
            self._faults_in_a_row.clear()
            return
        faults = self._faults_in_a_row
        faults.append(fault)
        # One refused connection is enough if nothing has succeeded since the request began: then
        # the server is down. Other passing faults need two rounds of all concurrent requests, which
        # fail together in one outage.
        n_of_model = sum(fault.code in OF_THE_MODEL for fault in faults)
        n_passing = sum(fault.again for fault in faults)
        if (
            self.settings.stop_at_error
            or (fault.code == "connection" and self._last_success < began)
            or n_of_model >= ENOUGH_IN_A_ROW
            or n_passing >= max(ENOUGH_FAILURES, 2 * self.at_once)
        ):
            self._end_asking(EndReason.GIVEN_UP, fault.message)

    async def _store_group_reply(self, group: list[PlannedRequest], kept: RecordedReply) -> bool:
        """Store one reply for a group of equal requests; return False if the store fails."""
        try:
            # First the reply itself: a store copies only what it has.
            await _await_stored([self.store.store_reply(group[0], kept)])
            copied = kept.reply.fault is None
            await _await_stored(
                [
                    self.store.copy_known_reply(planned)
                    if copied
                    else self.store.store_reply(planned, kept)
                    for planned in group[1:]
                ]
            )
        except OSError as error:
            self._end_for_store_error(error)
            return False
        self.outcome.statuses[kept.reply.status] += len(group)
        if kept.reply.fault is not None:
            fault = kept.reply.fault
            self.outcome.faults[fault.code] += len(group)
            self.outcome.messages.setdefault(fault.code, fault.message)
        self._report_progress()
        return True

    def _end_for_store_error(self, error: OSError) -> None:
        """End the requests because the store could not store a reply."""
        self._end_asking(EndReason.STORE, "")
        self.outcome.end = EndReason.STORE  # whatever else ended it a moment ago
        self.outcome.reason = f"the replies cannot be stored ({error.strerror or error})"

    def _end_asking(self, end: EndReason, reason: str) -> None:
        """Record why the requests end, unless a reason is recorded already, and wake all tasks."""
        if self.outcome.end is EndReason.DONE:
            self.outcome.end, self.outcome.reason = end, reason
            self._settled.set()
            self._over.set()

    def _report_progress(self) -> None:
        """Report the number of finished requests and of all requests."""
        if self.progress is not None:
            outcome = self.outcome
            self.progress(outcome.n_stored + outcome.statuses.total(), outcome.n_planned)


async def _await_stored(stored: Sequence[Awaitable[None] | None]) -> None:
    """Await the results of a reply store, without those that are None."""
    if waiting := [one for one in stored if one is not None]:
        await asyncio.gather(*waiting)
