"""Ask registered models for a study within the turns of its run; replies are stored with it.

    models = load_registered_models(run, parameters.models)
    asked = StudyAsker(turn, run, models, budget=parameters.budget)
    replies = asked.ask_step("asking", [Round(model, items, sent, seed) for model in models])

A committed reply is never requested again, neither by the next turn nor by another run of the owner
that sends an identical request. All models of a run share one budget, over all its turns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from annotations.exchange import AnswerStatus, InputError
from evaluation.core.backends.chat.contract import ChatModel
from evaluation.core.backends.errors import BackendError, ChatError
from evaluation.core.backends.server import RetryRules
from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.asker import EndReason, Outcome, RequestSettings, ask_model
from evaluation.runs.flow.asking.plan import (
    MOST_SEEDS,
    Item,
    PlannedRequest,
    RecordedReply,
    plan_requests,
)
from evaluation.runs.flow.asking.summary import DONE, GIVEN_UP, Budget, Prices, SharedBudget, Usage
from evaluation.runs.steps.asking.conversation import (
    ConcurrentAsker,
    ModelProgress,
    PendingReply,
    ReplyQueue,
    read_model_progress,
    store_model_progress,
)
from evaluation.runs.steps.asking.registration import find_asking_lane, open_chat_model
from evaluation.runs.steps.asking.stored_replies import (
    QUERIED,
    StoredReply,
    build_reply_name,
    compute_model_usage,
    convert_to_reused_reply,
    mark_replies_rejected,
    read_own_and_other_replies,
    read_run_replies,
    store_replies,
)
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunInputError, Turn

AT_ONCE = 8
PATIENCE = RetryRules(4, 120.0, 0.5, 60.0)
# Left of a turn for what comes after the asking.
SECONDS_LEFT = 20.0
GAVE_UP = "given-up"
"""Under which is put aside who was given up, and why, by public id."""

RepliesByItem = dict[tuple[str, int], StoredReply]
"""Replies by the id of the item and the sample."""


@dataclass(frozen=True)
class Round:
    """Requests to one model in one step of a study, with their shared parameters and seed.

    The parameters registered with the model override `parameters`.

    Attributes
    ----------
    items : conversations with unique ids and numbers of samples.
    parameters : parameters of every request; {"logprobs": True, "top_logprobs": 20} stores the
        log-probabilities that the server offers with the replies.
    seed : seed of the first samples.
    """

    model: LanguageModel
    items: Sequence[Item]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0


def plan_round(round_: Round, chat: ChatModel | None = None) -> list[PlannedRequest]:
    """Return the requests of one model in a step; opens its chat if none is passed."""
    sent = {**round_.parameters, **round_.model.parameters}
    seed = sent.pop("seed", round_.seed % MOST_SEEDS)
    return plan_requests(
        chat or open_chat_model(round_.model, PATIENCE),
        round_.items,
        sent,
        seed if isinstance(seed, int) else None,
    )


class StepAsker(Protocol):
    """Protocol of objects that ask models step by step, such as `StudyAsker`."""

    def ask_step(self, step: str, rounds: Sequence[Round]) -> list[RepliesByItem]:
        """Return the replies of each round (one model each), by item and sample."""


class StudyAsker:
    """Asks all models of a study's run, step by step, within turns of some minutes.

    Raises `RunInputError` if a model's back-end cannot be opened, or its owner may not ask it.
    """

    def __init__(
        self,
        turn: Turn,
        run: Run,
        models: Sequence[LanguageModel],
        budget: float | None = None,
        at_once: int = 0,
    ) -> None:
        self.turn, self.run, self.models = turn, run, list(dict.fromkeys(models))
        self.at_once = at_once or AT_ONCE
        # The cost of earlier turns counts; a reused reply costs 0.
        self.shared_budget = SharedBudget(
            budget, sum(reply.cost for reply in read_run_replies(run.pk))
        )
        # All back-ends before the first request: one that cannot be opened must cost nothing.
        self._chats = {model.pk: _open_chat_model(model) for model in self.models}
        # A model that was given up stays so in later turns, or each turn would wait for it anew.
        self._given_up: dict[str, str] = dict(turn.read_stored(GAVE_UP) or {})
        self._progress = {reply.id: reply for reply in read_model_progress(run.pk)}

    def ask_step(self, step: str, rounds: Sequence[Round]) -> list[RepliesByItem]:
        """Send all missing requests of a step; return each round's replies, by item and sample.

        A model that fails repeatedly is given up: each request not sent gets an ERROR that says
        so, here and in later steps (`get_give_up_reason`).

        Raises
        ------
        OutOfTimeError
            The turn is over; the replies so far are stored.
        RunInputError
            The budget is used up.
        """
        self.turn.check_interruption()
        works = [self._prepare_work(step, one) for one in rounds]
        conversation = _StepModelsAsker(self, works)
        conversation.report_arrivals()
        if conversation.works:
            # Only where something is left to ask: a turn of the computing lane reads stored replies
            # itself.
            self.turn.require_lane(find_asking_lane(work.model for work in conversation.works))
            conversation.ask_until_over()
            self._check_outcomes(conversation.works)
        return [self._collect_replies(work) for work in works]

    def reject_round(self, round_: Round) -> None:
        """Mark one model's replies in a step as rejected, so that no later run reuses them.

        Call it in `open_fenced_transaction`.
        """
        mark_replies_rejected(self.run.pk, plan_round(round_, self._chats[round_.model.pk]))

    def get_give_up_reason(self, model: LanguageModel) -> str:
        """Return the reason why the model was given up; "" if it may be asked."""
        return self._given_up.get(str(model.public_id), "")

    def find_first_fault(self) -> str:
        """Return the first error message of the run's replies; "" without one."""
        faults = (reply.message for reply in read_run_replies(self.run.pk) if reply.message)
        return next(faults, next(iter(self._given_up.values()), ""))

    def compute_usage(self) -> tuple[Usage, ...]:
        """Return requests, tokens and cost by step and model, over all turns of the run."""
        return compute_model_usage(self.run.pk, self.models)

    def update_progress(self, work: _StepWork, seconds: float = 0.0) -> None:
        """Update a model's progress, `seconds` after its step began in this turn."""
        progress, n_missing = work.progress, work.unknown
        reason = self.get_give_up_reason(work.model) if n_missing else ""
        self._progress[work.id] = replace(
            progress,
            done=len(work.planned) - n_missing,
            total=len(work.planned),
            seconds=round(progress.seconds + seconds, 2),
            end=GIVEN_UP if reason else "" if n_missing else DONE,
            reason=reason,
        )

    def store_progress(self) -> None:
        """Store the progress of all models; call it inside `Turn.open_fenced_transaction`."""
        store_model_progress(self.turn, list(self._progress.values()))

    def _prepare_work(self, step: str, round_: Round) -> _StepWork:
        """Return one model's planned requests in a step, with its stored and reusable replies."""
        chat = self._chats[round_.model.pk]
        planned = plan_round(round_, chat)
        work = _StepWork(step, round_.model, chat, planned)
        own, others = read_own_and_other_replies(self.run, planned)
        reused = {
            name: convert_to_reused_reply(reply, step, work.id) for name, reply in others.items()
        }
        names = list(reused)
        for first in range(0, len(names), QUERIED):
            # Stored with this run as well, so that it stays complete if the other run is deleted.
            with self.turn.open_fenced_transaction():
                part = {name: reused[name] for name in names[first : first + QUERIED]}
                store_replies(self.run.pk, part)
        work.replies = own | reused
        # What a model did and cost in earlier steps and turns is counted on.
        work.progress = self._progress.get(work.id, work.progress)
        self.update_progress(work)
        return work

    def _check_outcomes(self, works: Sequence[_StepWork]) -> None:
        """Store which models were given up; raise an error if others lack replies.

        RunInputError if the budget is used up, else OutOfTimeError.
        """
        # Stored before the exceptions below: the next turn must know who was given up.
        given_up = {work.id: why for work in works if (why := work.find_give_up_reason())}
        if given_up:
            self._given_up |= given_up
            for work in works:
                work.progress = self._progress[work.id]
                self.update_progress(work)
            with self.turn.open_fenced_transaction():
                self.turn.store_json(GAVE_UP, self._given_up)
                self.store_progress()
        outcomes = [work.outcome for work in works if work.outcome is not None]
        short = [outcome for outcome in outcomes if outcome.end is EndReason.BUDGET]
        if short:
            raise RunInputError("run.budget_used_up", left=sum(outcome.n_left for outcome in short))
        if any(work.unknown and work.id not in self._given_up for work in works):
            raise OutOfTimeError(self.turn.run_id)

    def _collect_replies(self, work: _StepWork) -> RepliesByItem:
        """Return one model's replies by item and sample, with an ERROR for each missing reply."""
        why = f"not asked: {self.get_give_up_reason(work.model)}"
        missing = StoredReply("", AnswerStatus.ERROR, message=why)
        return {
            (one.request.id, one.request.sample): work.replies.get(build_reply_name(one), missing)
            for one in work.planned
        }


class _StepWork:
    """One model's requests in one step of a study, and the store of its replies.

    The asking thread sets `outcome` or `failure`; only the turn's thread changes the rest.
    """

    def __init__(
        self, step: str, model: LanguageModel, chat: ChatModel, planned: list[PlannedRequest]
    ) -> None:
        self.step, self.model, self.chat, self.planned = step, model, chat, planned
        self.replies: dict[str, StoredReply] = {}
        self.mailbox: ReplyQueue[_StepWork] = ReplyQueue()
        self.outcome: Outcome | None = None
        self.failure = ""
        self.progress = ModelProgress(self.id, model.name)

    @property
    def id(self) -> str:
        """The public id of the model that is asked."""
        return str(self.model.public_id)

    @property
    def unknown(self) -> int:
        """Number of requests that have no reply yet."""
        return sum(build_reply_name(one) not in self.replies for one in self.planned)

    def has_reply(self, planned: PlannedRequest) -> bool:
        """Return whether a reply to the request's key is stored."""
        return build_reply_name(planned) in self.replies

    def knows_key(self, key: str) -> bool:
        """Return False: `has_reply` finds all stored replies, so none has to be copied."""
        return False

    def copy_known_reply(self, planned: PlannedRequest) -> None:
        """Do nothing: requests with equal keys share one stored reply."""

    def store_reply(self, planned: PlannedRequest, kept: RecordedReply) -> Awaitable[None] | None:
        """Queue a reply for the writing thread, unless the request was never sent."""
        return self.mailbox.put_reply(self, planned, kept) if kept.attempts else None

    def find_give_up_reason(self) -> str:
        """Return the reason why the model is given up after this turn; "" if it is not."""
        outcome = self.outcome
        if self.failure or outcome is None:
            return self.failure
        if outcome.end is EndReason.GIVEN_UP:
            return outcome.reason
        enough = outcome.n_attempts >= PATIENCE.attempts and outcome.last_fault
        if outcome.end is EndReason.TIME and not outcome.n_asked and enough:
            # A turn without one reply: the next one would be like it.
            return f"no reply in {outcome.seconds:.0f} s: {outcome.last_fault}"
        return ""


class _StepModelsAsker(ConcurrentAsker[_StepWork, _StepWork]):
    """Asks the models of a step within a turn, and stores replies as `RunData` of the run."""

    def __init__(self, study_asker: StudyAsker, works: Sequence[_StepWork]) -> None:
        waiting = [
            work
            for work in works
            if work.unknown and not study_asker.get_give_up_reason(work.model)
        ]
        super().__init__(study_asker.turn, waiting)
        self.study, self.all = study_asker, works

    def is_turn_over(self) -> bool:
        """Return whether the turn's last 20 seconds began, which are left for later steps."""
        return self.turn.clock() >= self.turn.deadline - SECONDS_LEFT

    async def ask_one_model(self, work: _StepWork) -> None:
        """Ask one model for all its missing replies; store its outcome or failure."""
        work.mailbox = self.mailbox
        prices = Prices(work.model.price_in or 0.0, work.model.price_out or 0.0)
        try:
            work.outcome = await ask_model(
                work.chat,
                work.planned,
                work,
                RequestSettings(at_once=self.study.at_once, patience=PATIENCE),
                Budget(prices, shared_budget=self.study.shared_budget),
                stop=self.stop,
                enough=self.enough,
            )
        except ChatError as error:  # it cannot be had at all; the others can
            work.failure = str(error)

    def write_reply_rows(self, posts: Sequence[PendingReply[_StepWork]]) -> None:
        """Write replies as `RunData`, by their names."""
        store_replies(
            self.turn.run_id, {name: reply for _, name, reply in _read_stored_replies(posts)}
        )

    def count_replies(self, posts: Sequence[PendingReply[_StepWork]]) -> None:
        """Add stored replies to their model's replies and progress."""
        for work, name, reply in _read_stored_replies(posts):
            if name in work.replies:
                continue  # items of one key that are ERRORs are kept one by one
            work.replies[name] = reply
            before = work.progress
            work.progress = replace(
                before,
                asked=before.asked + 1,
                errors=before.errors + (reply.status is AnswerStatus.ERROR),
                cost=before.cost + reply.cost,
            )

    def store_progress(self, seconds: float) -> None:
        """Store the progress of the step and of each model."""
        for work in self.all:
            self.study.update_progress(work, seconds)
        self.study.store_progress()
        self.report_arrivals()

    def report_arrivals(self) -> None:
        """Report the number of the step's replies that have arrived, and of all."""
        total = sum(len(work.planned) for work in self.all)
        left = sum(work.unknown for work in self.all)
        if self.all:
            self.turn.report_progress(self.all[0].step, total - left, total)


def _read_stored_replies(
    posts: Sequence[PendingReply[_StepWork]],
) -> Iterator[tuple[_StepWork, str, StoredReply]]:
    """Yield the work, name and stored form of each queued entry that carries a reply."""
    for post in posts:
        if post.kept is not None:
            work = post.asking
            yield (
                work,
                build_reply_name(post.planned),
                StoredReply.from_recorded(post.kept, work.step, work.id),
            )


def _open_chat_model(model: LanguageModel) -> ChatModel:
    """Return the model's chat back-end. Raises RunInputError if it cannot be reached."""
    try:
        return open_chat_model(model, PATIENCE)
    except (BackendError, InputError) as error:
        raise RunInputError.from_sentence(str(error)) from error
