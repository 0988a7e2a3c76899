"""Which model is asked what: the models of a run, each with its prompt and its requests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from annotations.exchange import InputError
from annotations.models import Question, QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.backends.chat.contract import ChatModel
from evaluation.backends.errors import ChatError
from evaluation.flow.asking.budget import Prices
from evaluation.flow.asking.options import AskOptions
from evaluation.flow.asking.plan import Planned, plan
from evaluation.flow.asking.prompts import CLOSED, PASSAGE, TEMPLATES
from evaluation.flow.asking.registration import ModelOptions
from evaluation.models import LanguageModel
from evaluation.options import SITE, Problem, problem
from evaluation.steps.asking.items import items_of, questions_of
from evaluation.steps.asking.prompts import NamedPrompt, UnknownPromptError, built_in, prompt_of
from evaluation.steps.asking.registration import chat_of, options_of, problems_of

NAMED = 5
"""Models that a sentence names."""


@dataclass(frozen=True)
class Asking:
    """One model and what it is asked, with one prompt and one set of parameters.

    Attributes
    ----------
    chat : None where the model cannot be had; `reason` says why.
    questions : of the version, in their order; a request's place is that of its question.
    """

    model: LanguageModel
    prompt: NamedPrompt
    options: AskOptions
    questions: Sequence[Question]
    chat: ChatModel | None
    reason: str = ""

    @property
    def id(self) -> str:
        """The public id of the model."""
        return str(self.model.public_id)

    @property
    def prices(self) -> Prices | None:
        """What its tokens cost; None where nobody said."""
        price_in, price_out = self.model.price_in, self.model.price_out
        return None if price_in is None or price_out is None else Prices(price_in, price_out)

    @cached_property
    def sent(self) -> dict[str, Any]:
        """The parameters that are sent with every request, beside the seed."""
        return self.options.sent(self.model.parameters)

    @property
    def seed(self) -> int | None:
        """The seed of the first sample."""
        return self.options.seed_for(self.model.parameters)

    @cached_property
    def stored_parameters(self) -> dict[str, Any]:
        """What is stored of it with every answer: how the model was reached, and all it was sent.

        Samples share the seed of the first one; theirs follow from it. With the prompt's hash,
        for two prompts may say the same of a question.
        """
        seed = {} if self.seed is None else {"seed": self.seed}
        prompt = {"prompt": self.prompt.prompt.hash}
        return {"model": self.model.spec, **prompt, **self.sent, **seed}

    @cached_property
    def hash(self) -> str:
        """What all answers of this asking have in common, as one SHA-256."""
        return hashlib.sha256(
            json.dumps(self.stored_parameters, sort_keys=True).encode()
        ).hexdigest()

    @cached_property
    def planned(self) -> list[Planned]:
        """All requests, the first samples of all questions first; none without a model."""
        if self.chat is None:
            return []
        items = items_of(self.questions, self.prompt.prompt, self.options.samples)
        return plan(self.chat, items, self.sent, self.seed)

    @property
    def n_planned(self) -> int:
        """How many replies there should be."""
        return len(self.questions) * self.options.samples


def askings_of(version: QuestionSetVersion, user: AnyUser, options: AskOptions) -> list[Asking]:
    """Return what each model is asked, in the order of the options; see `problems_with` first."""
    questions = questions_of(version)
    found = []
    for model in chosen_models(user, options):
        prompt = prompt_for(model, questions, user, options)
        try:
            chat, reason = chat_of(model, options.patience()), ""
        except (ChatError, InputError) as error:
            chat, reason = None, str(error)
        found.append(Asking(model, prompt, options, questions, chat, reason))
    return found


def chosen_models(user: AnyUser, options: AskOptions) -> list[LanguageModel]:
    """Return the models that the user may have asked, in the order of the options."""
    rows = LanguageModel.objects.editable_by(user).select_related("owner")
    by_id = {
        str(row.public_id): row for row in rows.filter(public_id__in=map(UUID, options.models))
    }
    return [by_id[one] for one in map(_canonical, options.models) if one in by_id]


def prompt_for(
    model: LanguageModel, questions: Sequence[Question], user: AnyUser, options: AskOptions
) -> NamedPrompt:
    """Return the prompt that is asked for, else the built-in one of the model's strategy.

    Raises UnknownPromptError.
    """
    if options.prompt is not None:
        return prompt_of(options.prompt, user)
    if model.strategy in TEMPLATES:
        return built_in(model.strategy)
    return built_in(PASSAGE if all(one.passage_id for one in questions) else CLOSED)


def problems_with(version: QuestionSetVersion, user: AnyUser, options: AskOptions) -> list[Problem]:
    """Return why a run of these options cannot be: what only the database can tell.

    What is wrong with one model alone is no problem here, but a state of that model in the run;
    `refused_models` tells it beforehand.
    """
    if not options.models:
        return [problem("no_models", "models")]
    models = chosen_models(user, options)
    missing = len(set(map(_canonical, options.models))) - len(models)
    if missing:
        return [problem("unknown_models", "models", missing=missing)]
    questions = questions_of(version)
    if not questions:
        return [problem("no_questions", "models")]
    without_text = sum(not one.text.strip() for one in questions)
    if without_text:
        return [problem("no_text", "models", count=without_text)]
    try:
        prompts = [prompt_for(model, questions, user, options) for model in models]
    except UnknownPromptError:
        return [problem("unknown_prompt", "prompt")]
    return list(_contradictions(models, prompts, questions, options))


def problems_at_start(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions
) -> list[Problem]:
    """Return why such a run is not started: `problems_with` it, or models that are refused."""
    return problems_with(version, user, options) or refused_models(user, options)


def refused_models(user: AnyUser, options: AskOptions) -> list[Problem]:
    """Return which models cannot be asked as they are registered, and why."""
    found = []
    for model in chosen_models(user, options):
        if model.archived_at is not None:
            found.append(problem("model_archived", "models", name=model.name))
            continue
        if not model.spec:
            found.append(problem("no_spec", "models", name=model.name))
            continue
        for wrong in problems_of(options_of(model), model.owner):
            reason = SITE.sentence(ModelOptions, wrong)
            found.append(problem("model_refused", "models", name=model.name, reason=reason))
    return found


def _contradictions(
    models: Sequence[LanguageModel],
    prompts: Sequence[NamedPrompt],
    questions: Sequence[Question],
    options: AskOptions,
) -> Iterator[Problem]:
    for model, prompt in zip(models, prompts, strict=True):
        own, strategy = model.strategy, prompt.prompt.strategy
        if own in TEMPLATES and own != strategy:
            values = {"name": model.name, "own": own, "strategy": strategy}
            yield problem("other_strategy", "prompt", **values)
    without = sum(not one.passage_id for one in questions)
    if without and any(prompt.prompt.strategy == PASSAGE for prompt in prompts):
        yield problem("no_passage", "prompt", count=without)
    unpriced = [model.name for model in models if model.price_in is None]
    if options.budget is not None and unpriced:
        more = ", ..." if len(unpriced) > NAMED else ""
        yield problem("no_prices", "budget", names=", ".join(unpriced[:NAMED]) + more)


def _canonical(public_id: str) -> str:
    return str(UUID(public_id))
