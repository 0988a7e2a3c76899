"""Asking a judge in a worker's turn: replies are committed before the next request of their turn.

The asking runs in a thread of its own, with an event loop; only the worker's thread talks to the
database. A reply goes to it through a queue, and the asking waits until it is committed.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotations.exchange import AnswerStatus
from evaluation.backends.chat.contract import ChatModel
from evaluation.flow.asking.asker import End, Outcome, Settings, ask
from evaluation.flow.asking.budget import Budget
from evaluation.flow.asking.plan import Item, Planned, plan
from evaluation.flow.asking.store import Kept
from evaluation.flow.judge.judging import Replies
from evaluation.flow.judge.prompts import JudgePrompt
from evaluation.models import Run, RunData
from evaluation.steps.checkpoints import OutOfTimeError, RunInputError, Turn

# Replies are put aside under this name and the beginning of their key.
PREFIX = "judge-"
KEY = 44
# Seconds after which the turn is looked at again.
PATIENCE = 0.2


@dataclass(frozen=True)
class JudgeReply:
    """A reply that is kept."""

    answer: str
    status: AnswerStatus
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, kept: Kept) -> JudgeReply:
        """Return what is kept of a reply."""
        reply = kept.reply
        return cls(
            reply.text,
            reply.status,
            reply.prompt_tokens or 0,
            reply.completion_tokens or 0,
            kept.cost,
        )


@dataclass
class _Post:
    """A reply on its way into the database."""

    planned: Planned
    reply: JudgeReply
    written: threading.Event = field(default_factory=threading.Event)
    failed: bool = False


class _Store:
    """The store of a step, as `evaluation.flow.asking.store.Store`; used in the asking's thread."""

    def __init__(
        self,
        known: dict[str, JudgeReply],
        own: dict[str, JudgeReply],
        posts: queue.SimpleQueue[_Post],
    ) -> None:
        self._known, self._own, self._posts = known, own, posts
        self.replies: dict[tuple[str, int], JudgeReply] = {}

    def has(self, planned: Planned) -> bool:
        """Never: what is known is known by its key."""
        return False

    def known(self, key: str) -> bool:
        """Whether a reply of this key is kept."""
        return key in self._known

    def copy(self, planned: Planned) -> None:
        """Give the item the kept reply of its key."""
        self.replies[_which(planned)] = self._known[planned.key]

    def keep(self, planned: Planned, kept: Kept) -> None:
        """Keep a reply; returns once it is committed. An ERROR is for this turn only."""
        reply = JudgeReply.of(kept)
        self.replies[_which(planned)] = reply
        if reply.status is AnswerStatus.ERROR:
            return
        post = _Post(planned, reply)
        self._posts.put(post)
        post.written.wait()
        if post.failed:
            raise OSError("the database did not take it")
        self._known[planned.key] = self._own[planned.key] = reply


class AskedInTurns:
    """Asks a judge step by step within a turn, and remembers across turns and runs.

    What an earlier run of the owner over the version has got of the same model, prompt and
    parameters is not asked again.

    Attributes
    ----------
    seed : of the first sample. budget : of the run; None for no end.
    """

    def __init__(
        self, turn: Turn, chat: ChatModel, settings: Settings, parameters: dict[str, object]
    ) -> None:
        self.turn, self.chat, self.settings, self.parameters = turn, chat, settings, parameters
        self.seed: int | None = 0
        self.budget: Budget | None = None
        self._known, self._own = _kept_for(turn.run_id)

    def usage(self) -> dict[str, float]:
        """Return requests, tokens and cost of what this run asked, in all its turns."""
        kept = self._own.values()
        return {
            "requests": len(self._own),
            "prompt_tokens": sum(one.prompt_tokens for one in kept),
            "completion_tokens": sum(one.completion_tokens for one in kept),
            "cost": sum(one.cost for one in kept),
        }

    @property
    def spent(self) -> float:
        """What this run has cost, in all its turns."""
        return sum(one.cost for one in self._own.values())

    def __call__(self, step: str, prompt: JudgePrompt, items: Sequence[Item]) -> Replies:
        """Ask what is not kept yet.

        Raises
        ------
        OutOfTimeError
            The turn is over; what came is kept.
        RunInputError
            The model was given up, or the budget does not reach.
        """
        self.turn.between_parts()
        planned = plan(self.chat, items, self.parameters, self.seed)
        posts: queue.SimpleQueue[_Post] = queue.SimpleQueue()
        store = _Store(self._known, self._own, posts)
        outcome = self._asked(step, planned, store, posts)
        if outcome.end is End.TIME:
            raise OutOfTimeError(self.turn.run_id)
        if outcome.end is End.BUDGET:
            raise RunInputError(
                f"The budget is used up: {outcome.n_left} requests were not sent. Start the run "
                "again with a higher one."
            )
        if outcome.end is not End.DONE:
            raise RunInputError(f"The judge could not be asked: {outcome.reason}")
        return store.replies

    def _asked(
        self,
        step: str,
        planned: Sequence[Planned],
        store: _Store,
        posts: queue.SimpleQueue[_Post],
    ) -> Outcome:
        """Let a thread ask, and write what comes until it has ended."""
        told = [0, len(planned)]
        asking = _Asking(self, planned, store, told)
        asking.start()
        try:
            while asking.is_alive() or not posts.empty():
                self._write(posts)
                self.turn.report(step, told[0], told[1])
        finally:
            asking.stop()
            while asking.is_alive():  # whoever waits for its reply to be written goes on
                _refuse(posts)
                asking.join(PATIENCE)
            _refuse(posts)
        if asking.error is not None:
            raise asking.error
        assert asking.outcome is not None
        return asking.outcome

    def _write(self, posts: queue.SimpleQueue[_Post]) -> None:
        try:
            some = [posts.get(timeout=PATIENCE)]
        except queue.Empty:
            return
        while not posts.empty():
            some.append(posts.get_nowait())
        try:
            with self.turn.fenced():
                RunData.objects.bulk_create(
                    [_row(self.turn.run_id, post) for post in some], ignore_conflicts=True
                )
        except BaseException:
            _tell(some, failed=True)
            raise
        _tell(some)


class _Asking(threading.Thread):
    """The asking, with an event loop of its own."""

    def __init__(
        self, of: AskedInTurns, planned: Sequence[Planned], store: _Store, told: list[int]
    ) -> None:
        super().__init__(name="judge", daemon=True)
        self._of, self._planned, self._store, self._told = of, planned, store, told
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended_by: asyncio.Event | None = None
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Ask."""
        try:
            self.outcome = asyncio.run(self._ask())
        except BaseException as error:
            self.error = error

    def stop(self) -> None:
        """End it, if it has not."""
        loop, stop = self._loop, self._ended_by
        if self.is_alive() and loop is not None and stop is not None:
            loop.call_soon_threadsafe(stop.set)

    async def _ask(self) -> Outcome:
        self._loop, self._ended_by = asyncio.get_running_loop(), asyncio.Event()
        of = self._of

        def told(done: int, total: int) -> None:
            self._told[:] = [done, total]

        return await ask(
            of.chat, self._planned, self._store, of.settings, of.budget, told, self._ended_by
        )


def _which(planned: Planned) -> tuple[str, int]:
    return planned.request.id, planned.request.sample


def _name(key: str) -> str:
    return f"{PREFIX}{key[:KEY]}"


def _row(run_id: int, post: _Post) -> RunData:
    reply = post.reply
    data = {
        "key": post.planned.key,
        "answer": reply.answer,
        "status": reply.status.value,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "cost": reply.cost,
    }
    return RunData(run_id=run_id, name=_name(post.planned.key), data=data)


def _kept_for(run_id: int) -> tuple[dict[str, JudgeReply], dict[str, JudgeReply]]:
    """Return what is kept, by key: of all runs of its owner over the version, and its own."""
    run = Run.objects.get(pk=run_id)
    rows = RunData.objects.filter(
        run__version=run.version_id,
        run__owner=run.owner_id,
        run__kind=run.kind,
        name__startswith=PREFIX,
    )
    known, own = {}, {}
    for of, data in rows.order_by("pk").values_list("run_id", "data").iterator():
        given = dict(data)
        key = given.pop("key")
        reply = JudgeReply(**{**given, "status": AnswerStatus(given["status"])})
        known[key] = reply
        if of == run_id:
            own[key] = reply
    return known, own


def _tell(posts: Sequence[_Post], *, failed: bool = False) -> None:
    for post in posts:
        post.failed = failed
        post.written.set()


def _refuse(posts: queue.SimpleQueue[_Post]) -> None:
    """Tell everybody who waits that nothing is written any more."""
    while not posts.empty():
        _tell([posts.get_nowait()], failed=True)
