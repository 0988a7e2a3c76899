"""Budget of an asking, and the summary of a run that asked models.

Estimate tokens, and limit the money that an asking spends. Summarise a run that asked models:
counts, cost and end of each model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evaluation.core.backends.chat.contract import ChatRequest, Reply
from evaluation.core.messages.message import Message
from evaluation.runs.flow.stored import RunSummary, Stored

PER = 1_000_000
"""Prices are for so many tokens, as providers state them."""

BYTES_A_TOKEN = 4
TOKENS_A_MESSAGE = 4
UNLIMITED_REPLY = 1024
"""Tokens that are assumed for a reply without max_tokens."""

MAYBE_CHARGED = frozenset(
    {"timeout", "no_reply", "not_json", "wrong_charset", "too_large", "answer_too_long"}
)
"""Faults after which the server may charge for a reply that was unreadable or too late."""


@dataclass(frozen=True)
class Prices:
    """Prices of a million prompt tokens and of a million completion tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def compute_cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the cost of these numbers of prompt and completion tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / PER


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """Return the estimated tokens of a request's prompt: one per 4 bytes of UTF-8."""
    texts = (message["content"] for message in request.messages)
    return sum(TOKENS_A_MESSAGE + estimate_tokens(text) for text in texts)


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of a text: one per 4 bytes of UTF-8, rounded up."""
    # JSON may hold half of a surrogate pair, which has no bytes in UTF-8.
    return math.ceil(len(text.encode(errors="replace")) / BYTES_A_TOKEN)


def get_reply_token_limit(request: ChatRequest) -> int:
    """Return the most tokens that a request lets its reply have; 1,024 if it sets no limit."""
    for name in ("max_tokens", "max_completion_tokens"):
        limit = request.parameters.get(name)
        if isinstance(limit, int) and limit > 0:
            return limit
    return UNLIMITED_REPLY


def count_tokens_used(request: ChatRequest, reply: Reply) -> tuple[int, int]:
    """Return the tokens of the prompt and of the reply, as the server counted, else estimated."""
    read, written = reply.prompt_tokens, reply.completion_tokens
    return (
        estimate_prompt_tokens(request) if read is None else read,
        estimate_tokens(reply.text + reply.thinking) if written is None else written,
    )


@dataclass
class SharedBudget:
    """Budget shared by all models that are asked together; `limit` is None for no limit.

    `spent` begins above 0 if the cost of earlier requests counts.
    """

    limit: float | None = None
    spent: float = 0.0
    reserved: float = field(default=0.0, init=False)
    under_way: int = field(default=0, init=False)


class Budget:
    """Budget for one model's requests: the highest price of each is reserved before it is sent.

    So concurrent requests cannot exceed the limit, as far as the token estimates are right.
    Models that are asked together share a `shared_budget`, each with its prices.
    """

    def __init__(
        self,
        prices: Prices,
        limit: float | None = None,
        spent: float = 0.0,
        shared_budget: SharedBudget | None = None,
    ) -> None:
        self.prices = prices
        self.shared_budget = shared_budget or SharedBudget(limit, spent)

    @property
    def spent(self) -> float:
        """Money spent so far by all models that share the shared_budget."""
        return self.shared_budget.spent

    @property
    def under_way(self) -> int:
        """Number of requests that were sent and whose cost is not settled yet."""
        return self.shared_budget.under_way

    def compute_highest_price(self, request: ChatRequest) -> float:
        """Return the highest possible price of a request: its prompt and the longest reply."""
        return self.prices.compute_cost(
            estimate_prompt_tokens(request), get_reply_token_limit(request)
        )

    def can_spend(self, price: float) -> bool:
        """Return whether the budget allows a request of this price now."""
        shared_budget = self.shared_budget
        # A sum of floats that should be the limit may be a hair above it.
        return (
            shared_budget.limit is None
            or shared_budget.spent + shared_budget.reserved + price
            <= shared_budget.limit * (1 + 1e-9)
        )

    def reserve_price(self, price: float) -> None:
        """Reserve money for a request that is about to be sent."""
        self.shared_budget.reserved += price
        self.shared_budget.under_way += 1

    def settle_cost(self, price: float, request: ChatRequest, reply: Reply) -> float:
        """Replace a request's reserved price by the cost of its reply, and return the cost.

        A request that the server may have answered (`MAYBE_CHARGED`) costs its highest price; one
        that it refused costs nothing.
        """
        shared_budget = self.shared_budget
        shared_budget.under_way -= 1
        # Sums of floats leave a trace behind, and would count it against the limit.
        shared_budget.reserved = shared_budget.reserved - price if shared_budget.under_way else 0.0
        # An error with counted tokens was generated, and is charged.
        came = reply.fault is None or reply.completion_tokens is not None
        cost = self.prices.compute_cost(*count_tokens_used(request, reply)) if came else 0.0
        if not came and reply.fault is not None and reply.fault.code in MAYBE_CHARGED:
            cost = self.compute_highest_price(request)
        shared_budget.spent += cost
        return cost


VERSION = 1

DONE, BUDGET, GIVEN_UP, FAILED = "done", "budget", "given_up", "failed"
ENDS = {
    DONE: "asked",
    BUDGET: "stopped: the budget does not reach further",
    GIVEN_UP: "given up",
    FAILED: "could not be asked",
}
"""How the asking of a model ended, in words."""


@dataclass(frozen=True)
class Usage(Stored):
    """Requests, tokens, cost and outcomes of one model in one step of a study's run.

    Attributes
    ----------
    model : name of the model. requests : number that got a reply or an error. errors : number of
        errors among these.
    reused : replies that an earlier run had asked for; they cost nothing.
    prompt_tokens, completion_tokens : tokens of the requests, as the server counted them.
    cost : cost of the requests; None if the model has no prices.
    answered, empty, refused, cut_off : number of replies by status, reused ones included; a
        cut-off reply reached the token limit before its answer.
    with_thinking : number of replies from which thinking was separated.
    error_codes : number of errors by code, such as error_in_reply (an error in a response of
        status 200).
    """

    step: str
    model: str
    requests: int
    reused: int
    errors: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    answered: int = 0
    empty: int = 0
    refused: int = 0
    cut_off: int = 0
    with_thinking: int = 0
    error_codes: dict[str, int] = field(default_factory=dict)

    @property
    def replies(self) -> int:
        """Number of replies of all outcomes; 0 for runs older than these counts."""
        return self.answered + self.empty + self.refused + self.cut_off + self.errors


LONGEST_REPLY = "max_tokens"
"""The option that sets the longest reply, where a step has no other."""


def build_cut_off_warnings(
    usage: Sequence[Usage], options: Mapping[str, str] = MappingProxyType({})
) -> list[Message]:
    """Return a warning on cut-off replies for each option that limits their length.

    Parameters
    ----------
    options : name of the option that limits the replies of a step, if that is not max_tokens; ""
        if a parameter of the registered model limits them.
    """
    usages: dict[str, list[Usage]] = {}
    for one in usage:
        if one.cut_off:
            usages.setdefault(options.get(one.step, LONGEST_REPLY), []).append(one)
    return [
        Message(
            "study_replies_cut_off",
            {
                "count": sum(one.cut_off for one in of_option),
                "names": ", ".join(dict.fromkeys(one.model for one in of_option)),
                "raise": name,
            },
        )
        for name, of_option in usages.items()
    ]


@dataclass(frozen=True)
class ModelOutcome(Stored):
    """One model of a run that asked: counts by outcome, tokens, cost, and why it ended.

    `planned` == `answered` + `empty` + `refused` + `cut_off` + sum of `errors` + `not_asked`, in
    replies: a question and a sample each.

    Attributes
    ----------
    id : public id of the model. asking : hash that its replies share (`LLMResponse.asking`).
    prompt : id of the prompt; prompt_hash : hash of its text.
    end : done, budget, given_up (after repeated faults) or failed (the model cannot be opened);
        `reason` states in words why it is not done.
    refused : number of refusals, `refused_prompt` of the prompt and `refused_generation` while the
        model wrote.
    cut_off : replies that reached the token limit before the answer. cut_short : replies of
        `answered` that reached it within the answer.
    with_thinking : replies from which thinking was separated.
    adapted : changes made to requests because the server refused them. max_tokens : token limit
        that was sent; 0 for none.
    errors : number of errors by code.
    stored : number of replies of earlier runs. asked : number of requests of this run that got a
        reply or an error.
    prompt_tokens, completion_tokens : tokens of all replies, earlier ones included.
    cost : cost of this run. seconds : duration of the requests. seconds_per_reply : mean; None
        without a reply.
    """

    id: str
    name: str
    asking: str = ""
    spec: str = ""
    strategy: str = ""
    prompt: str = ""
    prompt_name: str = ""
    prompt_hash: str = ""
    end: str = DONE
    reason: str = ""
    planned: int = 0
    answered: int = 0
    empty: int = 0
    refused: int = 0
    refused_prompt: int = 0
    refused_generation: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    error_messages: dict[str, str] = field(default_factory=dict)
    not_asked: int = 0
    stored: int = 0
    asked: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    seconds_per_reply: float | None = None
    cut_off: int = 0
    cut_short: int = 0
    with_thinking: int = 0
    adapted: tuple[str, ...] = ()
    max_tokens: int = 0

    @property
    def failures(self) -> int:
        """Number of replies that are errors."""
        return sum(self.errors.values())

    @property
    def complete(self) -> bool:
        """Whether every reply of the model is a text, empty or a refusal."""
        return not self.failures and not self.not_asked and not self.cut_off


@dataclass(frozen=True)
class StudySummary(RunSummary):
    """Base of a study's summary: the usage of the models that it asked.

    Attributes
    ----------
    cut_off : number of replies that reached the token limit before the answer; they count in no
        result and are no errors. usage : usage of each model in each step.
    """

    cut_off: int = 0
    usage: tuple[Usage, ...] = ()

    def get_model_usage(self) -> Sequence[Usage]:
        """Return the usage of each model in each step of the study."""
        return self.usage


@dataclass(frozen=True)
class AskSummary(RunSummary):
    """Summary of a run that asks: one entry per model, in the order of the options."""

    questions: int = 0
    samples: int = 1
    models: tuple[ModelOutcome, ...] = ()
    cost: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every model gave every reply: a text, empty or a refusal."""
        return all(model.complete for model in self.models)

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the counts for the run's page: questions, models and their answers."""
        return {
            "questions": self.questions,
            "models": len(self.models),
            "model_answers": sum(model.answered for model in self.models),
        }
