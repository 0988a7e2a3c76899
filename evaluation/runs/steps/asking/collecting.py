"""Work on a run that asks models the questions of a set, from its options to its summary.

The models are asked concurrently, in a thread with an event loop; the turn's thread writes the
replies that arrived in one short transaction, stores the progress, and checks whether the run
was cancelled or paused. A committed reply is never requested again: rows are the checkpoint.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.db.models.functions import Now
from django.utils.text import capfirst

from annotations.exchange.model_replies import FinishReason, classify_finish_reason
from evaluation.consensus.signatures import SHORT, collect_versions, combine_hashes
from evaluation.core.backends.chat.openai import LIMITS
from evaluation.core.backends.errors import ChatError
from evaluation.core.options import SITE, build_signature_parts
from evaluation.models import LLMResponse, Run
from evaluation.runs.flow.asking.asker import EndReason, Outcome, ask_model
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.summary import (
    BUDGET,
    DONE,
    FAILED,
    GIVEN_UP,
    VERSION,
    AskSummary,
    Budget,
    ModelOutcome,
    Prices,
    SharedBudget,
)
from evaluation.runs.steps.asking.conversation import (
    ConcurrentAsker,
    ModelProgress,
    read_model_progress,
    store_model_progress,
)
from evaluation.runs.steps.asking.model_askings import (
    ModelAsking,
    build_model_askings,
    find_option_problems,
)
from evaluation.runs.steps.asking.registration import find_asking_lane
from evaluation.runs.steps.asking.replies import (
    ERROR,
    AnswerReplyStore,
    PendingReply,
    select_stored_answers,
    write_answer_rows,
)
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunEnd, RunInputError, Turn

STAGE = "asking"


def ask_models(turn: Turn) -> None:
    """Ask the models of a claimed run for missing replies; store the run as done at the end."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    askings = _build_askings(run)
    states = {progress.id: progress for progress in read_model_progress(turn.run_id)}
    working = [_ModelWork(asking, states.get(asking.id), turn.run_id) for asking in askings]
    turn.report_progress(STAGE, *_count_replies(working))
    if waiting := [work.asking.model for work in working if work.waits]:
        turn.require_lane(find_asking_lane(waiting))
        _RunAsker(turn, working, _build_shared_budget(run, askings)).ask_until_over()
    if any(work.out_of_time for work in working):
        raise OutOfTimeError(turn.run_id)
    _finish_run(turn, run, working)


def _build_askings(run: Run) -> list[ModelAsking]:
    """Return the planned requests to each model of a run. Raises RunInputError for its options."""
    try:
        options = AskOptions.from_dict(run.parameters)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None
    problems = find_option_problems(run.version, run.owner, options)
    if problems:
        sentences = (SITE.format_field_problem(AskOptions, problem) for problem in problems)
        raise RunInputError.from_sentence(
            " ".join(f"{capfirst(problem)}." for problem in sentences)
        )
    return build_model_askings(run.version, run.owner, options)


class _ModelWork:
    """One model of a run in one turn: its requests, reply store, outcome and progress.

    The asking thread sets `outcome` or `failure`, and `took`; only the writing thread changes the
    rest.
    """

    def __init__(self, asking: ModelAsking, earlier: ModelProgress | None, run_id: int) -> None:
        self.asking = asking
        self.replies = AnswerReplyStore.from_asking(asking, run_id=run_id)
        self.outcome: Outcome | None = None
        self.failure = asking.reason
        self.took: float | None = None
        fresh = ModelProgress(asking.id, asking.model.name)
        earlier = earlier or fresh
        # What failed in an earlier turn is tried once more: a back-end may be there now.
        end = "" if earlier.end == FAILED else earlier.end
        self._state = replace(
            earlier,
            total=asking.n_planned,
            done=len(self.replies.answered_items),
            end=end,
            reason=earlier.reason if end else "",
        )
        # Whether there is something to ask in this turn.
        self.waits = not self.failure and not end and self._state.done < self._state.total

    @property
    def out_of_time(self) -> bool:
        """Whether the turn ended before the model had given all replies."""
        timed_out = self.outcome is not None and self.outcome.end is EndReason.TIME
        return timed_out and not self.get_progress(0.0).end

    def add_replies(self, posts: Sequence[PendingReply]) -> None:
        """Add these stored replies to the model's counts: done, asked, errors, cost."""
        # Copies, and replies to requests that were never sent, are done but were not asked.
        replies = [post.kept for post in posts if post.kept is not None]
        errors = sum(recorded_reply.reply.status.value == ERROR for recorded_reply in replies)
        self._state = replace(
            self._state,
            done=self._state.done + len(posts),
            asked=self._state.asked
            + sum(recorded_reply.attempts > 0 for recorded_reply in replies),
            errors=self._state.errors + errors,
            cost=self._state.cost + sum(recorded_reply.cost for recorded_reply in replies),
        )

    def get_progress(self, seconds: float) -> ModelProgress:
        """Return the model's progress, `seconds` after the turn began to ask."""
        end, reason = self._find_end()
        worked = (seconds if self.took is None else self.took) if self.waits else 0.0
        return replace(
            self._state, end=end, reason=reason, seconds=round(self._state.seconds + worked, 2)
        )

    def _find_end(self) -> tuple[str, str]:
        """Return code and reason why the model's requests ended; ("", "") while they continue."""
        if self.failure:
            return FAILED, self.failure
        outcome = self.outcome
        if outcome is None:
            if self._state.end or self._state.done < self._state.total:
                return self._state.end, self._state.reason
            return DONE, ""
        if outcome.end is EndReason.TIME:
            attempts = self.asking.options.attempts
            if outcome.n_asked or outcome.n_attempts < attempts or not outcome.last_fault:
                return "", ""
            # A turn without one reply: the next one would be like it.
            return GIVEN_UP, f"no reply in {outcome.seconds:.0f} s: {outcome.last_fault}"
        ends = {EndReason.DONE: DONE, EndReason.BUDGET: BUDGET, EndReason.GIVEN_UP: GIVEN_UP}
        end = ends.get(outcome.end, "")
        return end, "" if end == DONE else outcome.reason


class _RunAsker(ConcurrentAsker[_ModelWork, ModelAsking]):
    """Asks all models of a run within a turn, and writes replies as `LLMResponse` rows."""

    def __init__(
        self, turn: Turn, working: Sequence[_ModelWork], shared_budget: SharedBudget
    ) -> None:
        super().__init__(turn, [work for work in working if work.waits])
        self.working, self.shared_budget = working, shared_budget

    async def ask_one_model(self, work: _ModelWork) -> None:
        """Ask one model for all its missing replies; store its outcome or failure."""
        asking, began = work.asking, time.monotonic()
        assert asking.chat is not None
        work.replies.mailbox = self.mailbox
        try:
            outcome = await ask_model(
                asking.chat,
                asking.planned,
                work.replies,
                asking.options.build_request_settings(),
                Budget(asking.prices or Prices(), shared_budget=self.shared_budget),
                stop=self.stop,
                enough=self.enough,
                reserve=partial(self.mailbox.queue_reservation, asking.model.pk),
            )
        except ChatError as error:  # it cannot be had at all; the others can
            work.failure = str(error)
        else:
            work.took, work.outcome = time.monotonic() - began, outcome

    def write_reply_rows(self, posts: Sequence[PendingReply]) -> None:
        """Write replies as database rows."""
        write_answer_rows(posts, self.turn.run_id)

    def count_replies(self, posts: Sequence[PendingReply]) -> None:
        """Add stored replies to the counts of their models."""
        for work in self.working:
            work.add_replies([post for post in posts if post.asking is work.asking])

    def store_progress(self, seconds: float) -> None:
        """Store the progress of all models and of the run."""
        store_model_progress(self.turn, [work.get_progress(seconds) for work in self.working])
        self.turn.report_progress(STAGE, *_count_replies(self.working))


def _count_replies(working: Sequence[_ModelWork]) -> tuple[int, int]:
    """Return (stored replies, planned replies), summed over all models."""
    states = [work.get_progress(0.0) for work in working]
    return sum(state.done for state in states), sum(state.total for state in states)


def _build_shared_budget(run: Run, askings: Sequence[ModelAsking]) -> SharedBudget:
    """Return the budget that the run's models share; the cost of earlier turns is spent."""
    # From the stored replies and not from a counter: a turn that died has spent its money, too.
    replies = LLMResponse.objects.filter(run=run).values_list("extra__cost", flat=True)
    spent = sum(reply for reply in replies if isinstance(reply, int | float))
    return SharedBudget(askings[0].options.budget, float(spent))


def _finish_run(turn: Turn, run: Run, working: Sequence[_ModelWork]) -> None:
    """Store the run as done, with its summary, signature and input hash."""
    askings = [work.asking for work in working]
    options = askings[0].options
    models = tuple(_summarize_model(work, run) for work in working)
    summary = AskSummary(
        version=VERSION,
        questions=len(askings[0].questions),
        samples=options.samples,
        models=models,
        cost=sum(model.cost for model in models),
    )
    input_hash = combine_hashes(
        # With separators, so that text moved from one field to the next changes the hash.
        [
            f"{question.external_id}\x1f{question.public_id}\x1f{question.text}"
            for question in askings[0].questions
        ]
        + [asking.hash for asking in askings]
    )
    parts = {
        **build_signature_parts(options),
        "models": str(len(askings)),
        "inputs": input_hash[:SHORT],
    }
    parts["version"] = collect_versions()["crowdgrade"]
    signature = "|".join(["ask", *(f"{name}:{value}" for name, value in parts.items())])
    with turn.open_fenced_transaction():
        for asking in askings:
            # What this run found stored was asked for by it as well: it is the latest asking.
            select_stored_answers(asking).exclude(status=ERROR).update(asked_at=Now())
        store_model_progress(turn, [work.get_progress(0.0) for work in working])
        turn.report_progress(STAGE, *_count_replies(working))
        turn.finish_run(RunEnd(signature, input_hash, summary))


def _summarize_model(work: _ModelWork, run: Run) -> ModelOutcome:
    """Return one model's outcome (counts, tokens, cost, time) from its stored replies."""
    asking, state = work.asking, work.get_progress(0.0)
    rows = list(select_stored_answers(asking).values_list("status", "extra", "run_id"))
    reasons = (
        select_stored_answers(asking).filter(status="text").values_list("finish_reason", flat=True)
    )
    # Rows of other runs and copies count as replies, but neither as requests nor as cost of this
    # run.
    statuses = Counter(status for status, _, _ in rows)
    limit = next(
        (asking.request_parameters[name] for name in LIMITS if asking.request_parameters.get(name)),
        0,
    )
    failed = [extra for status, extra, _ in rows if status == ERROR]
    own_extras = [
        extra for _, extra, run_id in rows if run_id == run.pk and not extra.get("copied")
    ]
    asked_extras = [extra for extra in own_extras if extra.get("attempts")]
    seconds = _select_numbers([extra for _, extra, _ in rows if not extra.get("copied")], "seconds")
    prompt = asking.prompt
    return ModelOutcome(
        id=asking.id,
        name=asking.model.name,
        asking=asking.hash,
        spec=asking.model.spec,
        strategy=prompt.prompt.strategy,
        prompt=prompt.id,
        prompt_name=prompt.name,
        prompt_hash=prompt.prompt.hash,
        end=state.end or DONE,
        reason=state.reason,
        planned=asking.n_planned,
        answered=statuses["text"],
        empty=statuses["empty"],
        refused=sum(n for status, n in statuses.items() if status.startswith("refused")),
        refused_prompt=statuses["refused_prompt"],
        refused_generation=statuses["refused_generation"],
        errors=dict(Counter(extra.get("error", "") for extra in failed)),
        error_messages={extra.get("error", ""): extra.get("message", "") for extra in failed},
        cut_off=statuses["cut_off"],
        cut_short=sum(classify_finish_reason(reason) is FinishReason.LENGTH for reason in reasons),
        with_thinking=sum(bool(extra.get("thinking")) for _, extra, _ in rows),
        adapted=tuple(dict.fromkeys(c for _, extra, _ in rows for c in extra.get("adapted") or ())),
        max_tokens=limit if isinstance(limit, int) else 0,
        not_asked=asking.n_planned - len(rows),
        stored=len(rows) - len(own_extras),
        asked=len(asked_extras),
        prompt_tokens=int(sum(_select_numbers([extra for _, extra, _ in rows], "prompt_tokens"))),
        completion_tokens=int(
            sum(_select_numbers([extra for _, extra, _ in rows], "completion_tokens"))
        ),
        cost=sum(_select_numbers(own_extras, "cost")),
        seconds=state.seconds,
        seconds_per_reply=sum(seconds) / len(seconds) if seconds else None,
    )


def _select_numbers(extras: Sequence[dict[str, Any]], name: str) -> list[float]:
    """Return the values of `name` in the replies' stored data, without those that are no number."""
    return [extra[name] for extra in extras if isinstance(extra.get(name), int | float)]
