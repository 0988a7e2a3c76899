"""Summarise a run that asked models: counts, cost and end of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evaluation.core.messages.message import Message
from evaluation.runs.flow.stored import RunSummary, Stored

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
    model : its name. requests : that were sent and got a reply or an error; of them `errors`.
    reused : replies that an earlier run had asked for; they cost nothing.
    prompt_tokens, completion_tokens : of the requests, as the server counted them.
    cost : None where the model has no prices.
    answered, empty, refused, cut_off : replies by what came, reused ones too; of a cut-off one the
        length was used up before an answer came. with_thinking : those that held thinking, which
        was put aside. error_codes : errors by code, such as error_in_reply (an error in an answer
        of status 200).
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


def cut_off_warnings(
    usage: Sequence[Usage], options: Mapping[str, str] = MappingProxyType({})
) -> list[Message]:
    """Return a warning on cut-off replies for each option that limits their length.

    Parameters
    ----------
    options : the option of a step that has another than max_tokens; "" where the length is a
        parameter of the registered model.
    """
    found: dict[str, list[Usage]] = {}
    for one in usage:
        if one.cut_off:
            found.setdefault(options.get(one.step, LONGEST_REPLY), []).append(one)
    return [
        Message(
            "study_replies_cut_off",
            {
                "count": sum(one.cut_off for one in of_option),
                "names": ", ".join(dict.fromkeys(one.model for one in of_option)),
                "raise": name,
            },
        )
        for name, of_option in found.items()
    ]


@dataclass(frozen=True)
class AskedModel(Stored):
    """One model of a run that asked: counts by outcome, tokens, cost, and why it ended.

    `planned` == `answered` + `empty` + `refused` + `cut_off` + sum of `errors` + `not_asked`, in
    replies: a question and a sample each.

    Attributes
    ----------
    id : public id of the model. asking : what its replies have in common (`LLMResponse.asking`).
    prompt : id of the prompt, `prompt_hash` that of its text.
    end : done, budget, given_up (its faults would have met every request) or failed (it cannot be
        had at all); `reason` says why it is not done, for people.
    refused : of them `refused_prompt` before and `refused_generation` while it wrote.
    cut_off : their length was used up before an answer came. cut_short : of `answered` those whose
        end is missing for that reason. with_thinking : those that held thinking, which was put
        aside.
    adapted : what was changed in requests, as the server wants it. max_tokens : that were sent as
        the longest reply, 0 for none.
    errors : errors by code.
    stored : replies that were there before this run. asked : requests of this run that got a reply
        or an error.
    prompt_tokens, completion_tokens : of all replies that were counted, earlier ones too.
    cost : of this run. seconds : while it was asked. seconds_per_reply : mean; None without any.
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
    cut_off : replies whose length was used up before an answer came; they are in no number, and
        none of the errors. usage : of each model, by step.
    """

    cut_off: int = 0
    usage: tuple[Usage, ...] = ()

    def asked_models(self) -> Sequence[Usage]:
        """Return the usage of each model, by step of the study."""
        return self.usage


@dataclass(frozen=True)
class AskSummary(RunSummary):
    """Summary of a run that asks: one entry per model, in the order of the options."""

    questions: int = 0
    samples: int = 1
    models: tuple[AskedModel, ...] = ()
    cost: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every model gave every reply: a text, empty or a refusal."""
        return all(model.complete for model in self.models)

    def shown_counts(self) -> Mapping[str, int]:
        """Return the counts for the run's page: questions, models and their answers."""
        return {
            "questions": self.questions,
            "models": len(self.models),
            "model_answers": sum(model.answered for model in self.models),
        }
