"""Preview the requests of a run and their cost, before anything is sent.

Preview what models will be asked, and estimate the cost; nothing is sent. Forecast the requests,
tokens and cost of a study, at most; nothing is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import fmean

from django.utils.text import capfirst

from annotations.exchange import AnswerStatus, InputError
from annotations.models import QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.core.backends.chat.contract import Message
from evaluation.core.backends.errors import BackendError
from evaluation.models import LanguageModel, LLMResponse
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.plan import PlannedRequest, group_by_key
from evaluation.runs.flow.asking.summary import (
    BYTES_A_TOKEN,
    Prices,
    estimate_prompt_tokens,
    get_reply_token_limit,
)
from evaluation.runs.steps.asking.model_askings import (
    ModelAsking,
    build_model_askings,
    build_prompt_fields,
)
from evaluation.runs.steps.asking.replies import AnswerReplyStore
from evaluation.runs.steps.asking.stored_replies import (
    StoredReply,
    build_reply_name,
    find_answered_names,
)
from evaluation.runs.steps.asking.study_asking import RepliesByItem, Round, plan_round

MAX_SHOWN = 3
"""Questions that a preview shows."""
REMEMBERED = 200
"""Replies whose time says how long the next ones take."""


@dataclass(frozen=True)
class Conversation:
    """Messages that a model will read about one question."""

    question: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Preview:
    """Preview of the requests to one model: its first conversations, prompt and parameters.

    `prompt` is the prompt's name, and `parameters` are sent with the messages; `reason` states why
    the model cannot be asked, "" if it can.
    """

    model: str
    prompt: str
    parameters: dict[str, object]
    conversations: tuple[Conversation, ...]
    reason: str = ""


@dataclass(frozen=True)
class AskingEstimate:
    """Expected number of requests, tokens, cost and duration of asking one model.

    Attributes
    ----------
    id : public id of the model. reason : why it cannot be asked; "" if it can.
    requests : number of planned replies; stored : number of these that are present.
    prompt_tokens, completion_tokens : estimated tokens of the prompts; largest number of tokens of
        the replies.
    cost : highest cost; None without prices.
    duration : expected time at the pace of earlier replies; None without any.
    """

    id: str
    model: str
    requests: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    duration: timedelta | None
    reason: str = ""

    @property
    def to_ask(self) -> int:
        """Number of requests that are still to be sent."""
        return self.requests - self.stored


def preview_askings(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions, count: int = MAX_SHOWN
) -> list[Preview]:
    """Return a preview of the requests to each model, with the first `count` questions."""
    return [
        _preview_asking(asking, count) for asking in build_model_askings(version, user, options)
    ]


def estimate_askings(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions
) -> list[AskingEstimate]:
    """Return the expected requests, tokens, cost and duration of each model."""
    return [_estimate_asking(asking) for asking in build_model_askings(version, user, options)]


def _preview_asking(asking: ModelAsking, count: int) -> Preview:
    """Return the preview of the requests to one model, with its first `count` conversations."""
    prompt = asking.prompt.prompt
    conversations = tuple(
        Conversation(question.external_id, prompt.build_messages(build_prompt_fields(question)))
        for question in asking.questions[:count]
    )
    sent = dict(asking.request_parameters) | ({} if asking.seed is None else {"seed": asking.seed})
    return Preview(asking.model.name, asking.prompt.name, sent, conversations, asking.reason)


def _estimate_asking(asking: ModelAsking) -> AskingEstimate:
    """Return the expected requests, tokens, cost and duration of asking one model."""
    store = AnswerReplyStore.from_asking(asking)
    groups = list(group_by_key([one for one in asking.planned if not store.has_reply(one)]))
    # Equal requests are sent once, but each of them lacks a reply.
    open_ = [group[0] for group in groups if not store.knows_key(group[0].key)]
    n_open = sum(len(group) for group in groups if not store.knows_key(group[0].key))
    read = sum(estimate_prompt_tokens(one.request) for one in open_)
    written = sum(get_reply_token_limit(one.request) for one in open_)
    prices = asking.prices
    return AskingEstimate(
        id=asking.id,
        model=asking.model.name,
        requests=asking.n_planned,
        stored=asking.n_planned - n_open if asking.chat else 0,
        prompt_tokens=read,
        completion_tokens=written,
        cost=None if prices is None else prices.compute_cost(read, written),
        duration=_estimate_duration(asking, open_),
        reason=asking.reason,
    )


def _estimate_duration(asking: ModelAsking, open_: Sequence[PlannedRequest]) -> timedelta | None:
    """Return the expected duration of these requests, from the model's latest replies.

    Without replies it follows from the limit of requests per minute; None without either.
    """
    # Replies to requests of this site have a key; imported answers have none.
    latest = LLMResponse.objects.filter(model=asking.model).exclude(key="").order_by("-pk")
    durations = latest.values_list("extra__seconds", flat=True)[:REMEMBERED]
    seconds = [
        duration for duration in durations if isinstance(duration, int | float) and duration > 0
    ]
    limit = asking.options.requests_per_minute
    at_limit = 60.0 * len(open_) / limit if limit else 0.0
    if not seconds:
        return timedelta(seconds=at_limit) if limit else None
    at_once = asking.options.concurrency
    if asking.chat is not None and asking.chat.at_once:
        at_once = min(at_once, asking.chat.at_once)
    # The slower of the two: waiting for replies, or the limit of requests a minute.
    return timedelta(seconds=max(fmean(seconds) * len(open_) / at_once, at_limit))


LONGEST_FILLER = 1000
"""Tokens of a reply that is not known yet, at most, where later requests show it."""


@dataclass(frozen=True)
class StepEstimate:
    """Expected requests, tokens and cost of one model in one step of a study.

    Attributes
    ----------
    step : label of the step. requests : number of requests to send; stored : number of replies of
        earlier runs.
    prompt_tokens, completion_tokens : estimated tokens of the prompts; largest number of tokens of
        the replies.
    cost : highest cost; None without prices. reason : why the model cannot be asked; "" if it can.
    """

    step: str
    model: str
    requests: int = 0
    stored: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class RequestForecast:
    """Forecast of all requests of a study's run.

    Attributes
    ----------
    takes : estimates, one for each step and model. shown : example conversations, by title.
    notes : sentences on what the forecast cannot know.
    """

    takes: tuple[StepEstimate, ...]
    shown: Mapping[str, tuple[Message, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """Largest number of requests that will be sent."""
        return sum(take.requests for take in self.takes)

    @property
    def stored(self) -> int:
        """Number of replies that are already stored."""
        return sum(take.stored for take in self.takes)

    @property
    def prompt_tokens(self) -> int:
        """Estimated tokens of all prompts."""
        return sum(take.prompt_tokens for take in self.takes)

    @property
    def completion_tokens(self) -> int:
        """Largest number of tokens of all replies."""
        return sum(take.completion_tokens for take in self.takes)

    @property
    def cost(self) -> float | None:
        """Highest possible cost; None if a model with requests has no prices."""
        costs = [take.cost for take in self.takes if take.requests]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


class RequestCounter:
    """Stand-in for `StudyAsker` that counts requests and returns placeholder replies.

    Each conversation gets its own reply, as long as the model may write (up to `LONGEST_FILLER`
    tokens), so that later prompts that quote it are counted in full. In the steps `unread` all
    replies are ERRORs, about which no study asks again.
    """

    def __init__(self, user: AnyUser, unread: Collection[str] = ()) -> None:
        self.takes: list[StepEstimate] = []
        self._user, self._unread = user, unread

    def ask_step(self, step: str, rounds: Sequence[Round]) -> list[RepliesByItem]:
        """Count the requests of a step; return placeholder replies, by round, item and sample."""
        pending = [one for one in rounds if one.items]
        self.takes += [estimate_round(self._user, capfirst(step), one) for one in pending]
        return [
            {
                (item.id, sample): self._build_reply(
                    step, f"{one.model.pk} {item.id} {sample} ", one
                )
                for item in one.items
                for sample in range(item.samples)
            }
            for one in rounds
        ]

    def _build_reply(self, step: str, name: str, round_: Round) -> StoredReply:
        """Return a placeholder as long as the longest reply; an ERROR in steps of `unread`."""
        if step in self._unread:
            return StoredReply("", AnswerStatus.ERROR)
        tokens = min(int(round_.parameters.get("max_tokens", LONGEST_FILLER)), LONGEST_FILLER)
        return StoredReply(name.ljust(tokens * BYTES_A_TOKEN, "x"), AnswerStatus.TEXT)


def estimate_round(user: AnyUser, step: str, round_: Round, times: int = 1) -> StepEstimate:
    """Return the estimate of one round of a step: requests, tokens, cost, each times `times`.

    `times` is the number of wordings of each request, of which only the first is known: each
    request counts that often, and only the first may have a stored reply.
    """
    model = round_.model
    try:
        planned = plan_round(round_)
    except (BackendError, InputError) as error:
        return StepEstimate(step, model.name, reason=str(error))
    return _estimate_requests(
        model, step, planned, find_answered_names(user.pk or 0, planned), times
    )


def _estimate_requests(
    model: LanguageModel,
    step: str,
    planned: Sequence[PlannedRequest],
    answered_names: set[str],
    times: int,
) -> StepEstimate:
    """Return the estimate of the planned requests that have no stored reply."""
    groups = [group[0] for group in group_by_key(planned)]
    open_ = [group for group in groups if build_reply_name(group) not in answered_names]
    reckoned = [*open_, *(group for group in groups for _ in range(times - 1))]
    read = sum(estimate_prompt_tokens(one.request) for one in reckoned)
    written = sum(get_reply_token_limit(one.request) for one in reckoned)
    # Without prices the cost is unknown, not 0.
    cost = None
    if model.price_in is not None and model.price_out is not None:
        cost = Prices(model.price_in, model.price_out).compute_cost(read, written)
    return StepEstimate(
        step, model.name, len(reckoned), len(groups) - len(open_), read, written, cost
    )
