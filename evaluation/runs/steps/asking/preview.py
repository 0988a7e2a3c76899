"""Preview what models will be asked, and estimate the cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean

from annotations.models import QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.core.backends.chat.contract import Message
from evaluation.models import LLMResponse
from evaluation.runs.flow.asking.budget import estimate_prompt_tokens, find_most_completion_tokens
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.plan import Planned, group_by_key
from evaluation.runs.steps.asking.items import build_fields
from evaluation.runs.steps.asking.model_askings import ModelAsking, build_askings
from evaluation.runs.steps.asking.replies import Replies

SHOWN = 3
"""Questions that a preview shows."""
REMEMBERED = 200
"""Replies whose time says how long the next ones take."""


@dataclass(frozen=True)
class Conversation:
    """One question with the messages that a model will read."""

    question: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Preview:
    """What one model will be asked: its first conversations, prompt and parameters.

    `prompt` is its name and `parameters` what is sent beside the messages; `reason` says why the
    model cannot be asked, "" where it can.
    """

    model: str
    prompt: str
    parameters: dict[str, object]
    conversations: tuple[Conversation, ...]
    reason: str = ""


@dataclass(frozen=True)
class Estimate:
    """Expected number of requests, tokens, cost and duration of asking one model.

    Attributes
    ----------
    id : public id of the model. reason : why it cannot be asked, "" where it can.
    requests : replies that there should be, of which `stored` are there.
    prompt_tokens, completion_tokens : to read, reckoned, and to write at most.
    cost : at most; None without prices.
    duration : at the pace of earlier replies; None where there are none to go by.
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
    version: QuestionSetVersion, user: AnyUser, options: AskOptions, count: int = SHOWN
) -> list[Preview]:
    """Return the messages that each model will read, for the first `count` questions."""
    return [_preview(asking, count) for asking in build_askings(version, user, options)]


def estimate_askings(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions
) -> list[Estimate]:
    """Return each model's expected number of requests, tokens, cost and duration."""
    return [_estimate(asking) for asking in build_askings(version, user, options)]


def _preview(asking: ModelAsking, count: int) -> Preview:
    """Return the preview of what one model will be asked."""
    prompt = asking.prompt.prompt
    conversations = tuple(
        Conversation(one.external_id, prompt.messages(build_fields(one)))
        for one in asking.questions[:count]
    )
    sent = dict(asking.sent) | ({} if asking.seed is None else {"seed": asking.seed})
    return Preview(asking.model.name, asking.prompt.name, sent, conversations, asking.reason)


def _estimate(asking: ModelAsking) -> Estimate:
    """Return one model's estimate; requests with equal keys count once."""
    store = Replies.of(asking)
    groups = list(group_by_key([one for one in asking.planned if not store.has(one)]))
    open_ = [group[0] for group in groups if not store.known(group[0].key)]
    n_open = sum(len(group) for group in groups if not store.known(group[0].key))
    read = sum(estimate_prompt_tokens(one.request) for one in open_)
    written = sum(find_most_completion_tokens(one.request) for one in open_)
    prices = asking.prices
    return Estimate(
        id=asking.id,
        model=asking.model.name,
        requests=asking.n_planned,
        stored=asking.n_planned - n_open if asking.chat else 0,
        prompt_tokens=read,
        completion_tokens=written,
        cost=None if prices is None else prices.cost(read, written),
        duration=_estimate_duration(asking, open_),
        reason=asking.reason,
    )


def _estimate_duration(asking: ModelAsking, open_: Sequence[Planned]) -> timedelta | None:
    """Return the expected time of requests, by the pace of the model's latest replies."""
    latest = LLMResponse.objects.filter(model=asking.model).exclude(key="").order_by("-pk")
    told = latest.values_list("extra__seconds", flat=True)[:REMEMBERED]
    seconds = [one for one in told if isinstance(one, int | float) and one > 0]
    limit = asking.options.requests_per_minute
    at_limit = 60.0 * len(open_) / limit if limit else 0.0
    if not seconds:
        return timedelta(seconds=at_limit) if limit else None
    at_once = asking.options.concurrency
    if asking.chat is not None and asking.chat.at_once:
        at_once = min(at_once, asking.chat.at_once)
    return timedelta(seconds=max(fmean(seconds) * len(open_) / at_once, at_limit))
