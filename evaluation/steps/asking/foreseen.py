"""What a study will ask, before anything is sent: requests, tokens and money at most."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.text import capfirst

from annotations.exchange import AnswerStatus, InputError
from annotations.models.access import AnyUser
from evaluation.backends.chat.contract import Message
from evaluation.backends.errors import BackendError
from evaluation.flow.asking.budget import (
    BYTES_A_TOKEN,
    Prices,
    most_completion_tokens,
    prompt_tokens,
)
from evaluation.flow.asking.plan import Planned, together
from evaluation.models import LanguageModel
from evaluation.steps.asking.in_turns import Answered, Round, planned_of
from evaluation.steps.asking.kept import StoredReply, answered, name_of

LONGEST_FILLER = 1000
"""Tokens of a reply that is not known yet, at most, where later requests show it."""


@dataclass(frozen=True)
class Takes:
    """What asking one model takes in a step.

    Attributes
    ----------
    step : what it is asked for, for people. requests : that will be sent; `stored` replies are
        there already, of earlier runs.
    prompt_tokens, completion_tokens : to read, reckoned, and to write at most.
    cost : at most; None without prices. reason : why it cannot be asked, "" where it can.
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
class Foreseen:
    """What a run will ask.

    Attributes
    ----------
    takes : by step and model. shown : conversations as a model sees them, by a title.
    notes : sentences on what cannot be known yet.
    """

    takes: tuple[Takes, ...]
    shown: Mapping[str, tuple[Message, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """How many requests will be sent, at most."""
        return sum(one.requests for one in self.takes)

    @property
    def stored(self) -> int:
        """How many replies are there already."""
        return sum(one.stored for one in self.takes)

    @property
    def prompt_tokens(self) -> int:
        """Tokens to read, reckoned."""
        return sum(one.prompt_tokens for one in self.takes)

    @property
    def completion_tokens(self) -> int:
        """Tokens to write, at most."""
        return sum(one.completion_tokens for one in self.takes)

    @property
    def cost(self) -> float | None:
        """What it costs at most; None where a model that is asked has no prices."""
        costs = [one.cost for one in self.takes if one.requests]
        return None if None in costs else sum(one for one in costs if one is not None)


class Foreseeing:
    """Counts what a study asks, in place of `AskedInTurns`: nothing is sent.

    Every conversation gets a reply of its own, as long as the model may write (up to
    `LONGEST_FILLER` tokens), so that what later steps show of it is reckoned as well. In the steps
    of `unread` replies are ERRORs, which no study asks about again.
    """

    def __init__(self, user: AnyUser, unread: Collection[str] = ()) -> None:
        self.takes: list[Takes] = []
        self._user, self._unread = user, unread

    def ask(self, step: str, rounds: Sequence[Round]) -> list[Answered]:
        """Count the requests of a step and return replies in place of those that will come."""
        asked = [one for one in rounds if one.items]
        self.takes += [takes_of(self._user, capfirst(step), one) for one in asked]
        return [
            {
                (item.id, sample): self._reply(step, f"{one.model.pk} {item.id} {sample} ", one)
                for item in one.items
                for sample in range(item.samples)
            }
            for one in rounds
        ]

    def _reply(self, step: str, name: str, asked: Round) -> StoredReply:
        if step in self._unread:
            return StoredReply("", AnswerStatus.ERROR)
        tokens = min(int(asked.parameters.get("max_tokens", LONGEST_FILLER)), LONGEST_FILLER)
        return StoredReply(name.ljust(tokens * BYTES_A_TOKEN, "x"), AnswerStatus.TEXT)


def takes_of(user: AnyUser, step: str, asked: Round, times: int = 1) -> Takes:
    """Return what a round takes of the models of a user.

    `times` counts what is sent again in other words that are not known yet: each request is
    reckoned that often, and only the first of them may be there already.
    """
    model = asked.model
    try:
        planned = planned_of(asked)
    except (BackendError, InputError) as error:
        return Takes(step, model.name, reason=str(error))
    return _takes(model, step, planned, answered(user.pk or 0, planned), times)


def _takes(
    model: LanguageModel, step: str, planned: Sequence[Planned], there: set[str], times: int
) -> Takes:
    groups = [group[0] for group in together(planned)]
    open_ = [one for one in groups if name_of(one) not in there]
    reckoned = [*open_, *(one for one in groups for _ in range(times - 1))]
    read = sum(prompt_tokens(one.request) for one in reckoned)
    written = sum(most_completion_tokens(one.request) for one in reckoned)
    cost = None
    if model.price_in is not None and model.price_out is not None:
        cost = Prices(model.price_in, model.price_out).cost(read, written)
    return Takes(step, model.name, len(reckoned), len(groups) - len(open_), read, written, cost)
