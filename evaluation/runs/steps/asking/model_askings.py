"""Planned requests of a run that asks models, and the conversations of a set.

Build the conversations in which a model is asked the questions of a version. Plan the requests of a
run that asks models: each model with its prompt and questions.
"""

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
from evaluation.core.backends.chat.contract import ChatModel
from evaluation.core.backends.errors import ChatError
from evaluation.core.options import SITE, Problem, build_problem
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.options import AskOptions, ModelOptions
from evaluation.runs.flow.asking.plan import (
    CLOSED,
    PASSAGE,
    TEMPLATES,
    Item,
    PlannedRequest,
    Prompt,
    build_item_fields,
    plan_requests,
)
from evaluation.runs.flow.asking.summary import Prices
from evaluation.runs.steps.asking.registration import (
    NamedPrompt,
    UnknownPromptError,
    build_built_in_prompt,
    find_prompt,
    find_registration_problems,
    open_chat_model,
    read_model_options,
)


def load_graded_questions(version: QuestionSetVersion) -> list[Question]:
    """Return a version's graded questions in their order, with their passages."""
    return list(version.questions.graded().select_related("passage").order_by("position", "pk"))


def build_question_items(questions: Sequence[Question], prompt: Prompt, samples: int) -> list[Item]:
    """Return an item to ask for each question: its messages, under its external id."""
    return [
        Item(question.external_id, prompt.build_messages(build_prompt_fields(question)), samples)
        for question in questions
    ]


def build_prompt_fields(question: Question) -> dict[str, str]:
    """Return the values of a prompt's fields for a question, by field name."""
    passage = question.passage
    beside = {"passage": passage.text, "title": passage.title} if passage else {}
    return build_item_fields(
        question.text, question.choices, question.category, question.language, **beside
    )


NAMED = 5
"""Models that a sentence names."""


@dataclass(frozen=True)
class ModelAsking:
    """All requests to one model in a run: its prompt, parameters and questions.

    Attributes
    ----------
    chat : chat back-end; None if it cannot be opened, with the `reason`.
    questions : questions of the version in order; a request's `place` is the index of its question.
    """

    model: LanguageModel
    prompt: NamedPrompt
    options: AskOptions
    questions: Sequence[Question]
    chat: ChatModel | None
    reason: str = ""

    @property
    def id(self) -> str:
        """Public id of the model that is asked."""
        return str(self.model.public_id)

    @property
    def prices(self) -> Prices | None:
        """Prices of the model's tokens; None if its registration has none."""
        price_in, price_out = self.model.price_in, self.model.price_out
        return None if price_in is None or price_out is None else Prices(price_in, price_out)

    @cached_property
    def request_parameters(self) -> dict[str, Any]:
        """Parameters sent with every request, without the seed."""
        return self.options.build_request_parameters(self.model.parameters)

    @property
    def seed(self) -> int | None:
        """Seed of the first sample; None for a model that takes no seed."""
        return self.options.get_first_seed(self.model.parameters)

    @cached_property
    def stored_parameters(self) -> dict[str, Any]:
        """Parameters stored with each answer: SPEC, prompt hash, request parameters, first seed.

        The first seed is stored with all samples, whose own seeds are derived from it. The prompt's
        hash is included, because two prompts may give the same messages for a question.
        """
        seed = {} if self.seed is None else {"seed": self.seed}
        prompt = {"prompt": self.prompt.prompt.hash}
        return {"model": self.model.spec, **prompt, **self.request_parameters, **seed}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of `stored_parameters`, which identifies the answers of this configuration."""
        # Sorted, because a database may return the keys of JSON in another order.
        return hashlib.sha256(
            json.dumps(self.stored_parameters, sort_keys=True).encode()
        ).hexdigest()

    @cached_property
    def planned(self) -> list[PlannedRequest]:
        """All requests, the first samples of all questions first; none without a chat model."""
        if self.chat is None:
            return []
        items = build_question_items(self.questions, self.prompt.prompt, self.options.samples)
        return plan_requests(self.chat, items, self.request_parameters, self.seed)

    @property
    def n_planned(self) -> int:
        """Number of planned replies: questions times samples."""
        return len(self.questions) * self.options.samples


def build_model_askings(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions
) -> list[ModelAsking]:
    """Return the planned requests to each chosen model, in the order of the options."""
    questions = load_graded_questions(version)
    askings = []
    for model in load_chosen_models(user, options):
        prompt = choose_prompt(model, questions, user, options)
        try:
            chat, reason = open_chat_model(model, options.build_patience()), ""
        except (ChatError, InputError) as error:
            chat, reason = None, str(error)
        askings.append(ModelAsking(model, prompt, options, questions, chat, reason))
    return askings


def load_chosen_models(user: AnyUser, options: AskOptions) -> list[LanguageModel]:
    """Return the chosen models that the user may ask, in the order of the options."""
    rows = LanguageModel.objects.editable_by(user).select_related("owner")
    by_id = {
        str(row.public_id): row for row in rows.filter(public_id__in=map(UUID, options.models))
    }
    return [by_id[model] for model in map(_normalize_id, options.models) if model in by_id]


def choose_prompt(
    model: LanguageModel, questions: Sequence[Question], user: AnyUser, options: AskOptions
) -> NamedPrompt:
    """Return the chosen prompt, else the built-in prompt of the model's strategy.

    Raises UnknownPromptError.
    """
    if options.prompt is not None:
        return find_prompt(options.prompt, user)
    if model.strategy in TEMPLATES:
        return build_built_in_prompt(model.strategy)
    return build_built_in_prompt(
        PASSAGE if all(question.passage_id for question in questions) else CLOSED
    )


def find_option_problems(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions
) -> list[Problem]:
    """Return the problems of options with the models, prompt and questions in the database.

    A model that cannot be asked is no problem here: it ends as failed in the run.
    `find_refused_model_problems` reports it before the start.
    """
    if not options.models:
        return [build_problem("no_models", "models")]
    models = load_chosen_models(user, options)
    # Normalised first: two spellings of a UUID are one model, and none of them is missing.
    missing = len(set(map(_normalize_id, options.models))) - len(models)
    if missing:
        return [build_problem("unknown_models", "models", missing=missing)]
    questions = load_graded_questions(version)
    if not questions:
        return [build_problem("no_questions", "models")]
    without_text = sum(not question.text.strip() for question in questions)
    if without_text:
        return [build_problem("no_text", "models", count=without_text)]
    try:
        prompts = [choose_prompt(model, questions, user, options) for model in models]
    except UnknownPromptError:
        return [build_problem("unknown_prompt", "prompt")]
    return list(_find_contradictions(models, prompts, questions, options))


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, options: AskOptions
) -> list[Problem]:
    """Return the problems that prevent a run's start: of the options and of the models."""
    return find_option_problems(version, user, options) or find_refused_model_problems(
        user, options
    )


def find_refused_model_problems(user: AnyUser, options: AskOptions) -> list[Problem]:
    """Return a problem for each chosen model that is archived, without URL, or refused."""
    refused_models = []
    for model in load_chosen_models(user, options):
        if model.archived_at is not None:
            refused_models.append(build_problem("model_archived", "models", name=model.name))
            continue
        if not model.spec:
            refused_models.append(build_problem("no_spec", "models", name=model.name))
            continue
        for wrong in find_registration_problems(read_model_options(model), model.owner):
            reason = SITE.format_field_problem(ModelOptions, wrong)
            refused_models.append(
                build_problem("model_refused", "models", name=model.name, reason=reason)
            )
    return refused_models


def _find_contradictions(
    models: Sequence[LanguageModel],
    prompts: Sequence[NamedPrompt],
    questions: Sequence[Question],
    options: AskOptions,
) -> Iterator[Problem]:
    """Yield problems of models with prompt or questions: strategy, passages, prices."""
    for model, prompt in zip(models, prompts, strict=True):
        own, strategy = model.strategy, prompt.prompt.strategy
        if own in TEMPLATES and own != strategy:
            values = {"name": model.name, "own": own, "strategy": strategy}
            yield build_problem("other_strategy", "prompt", **values)
    without = sum(not question.passage_id for question in questions)
    if without and any(prompt.prompt.strategy == PASSAGE for prompt in prompts):
        yield build_problem("no_passage", "prompt", count=without)
    unpriced = [model.name for model in models if model.price_in is None]
    if options.budget is not None and unpriced:
        more = ", ..." if len(unpriced) > NAMED else ""
        yield build_problem("no_prices", "budget", names=", ".join(unpriced[:NAMED]) + more)


def _normalize_id(public_id: str) -> str:
    """Return a public id in the canonical text form of UUIDs."""
    return str(UUID(public_id))
