"""Trials of models: one question that checks URL, key and price.

Trials of models in the background, so that no web thread waits for a slow server.

A trial runs in a thread of its own, a few at a time, and its result lies in the cache that all web
processes share until it is looked at. Each user has one trial at a time.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.core.cache import cache
from django.core.exceptions import ValidationError

from annotations.exchange.model_replies import Finish, read_finish
from annotations.exchange.problems import InputError
from annotations.exchange.records import AnswerStatus
from annotations.models.access import AnyUser
from evaluation.core.backends import BackendError
from evaluation.core.backends.chat.contract import ChatModel, Fault, Message, Reply
from evaluation.core.backends.server import Patience
from evaluation.core.messages.reasons import get_fault_words
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.asker import Settings, ask
from evaluation.runs.flow.asking.plan import (
    PASSAGE,
    Item,
    MemoryStore,
    RecordedReply,
    TemplateError,
    plan_requests,
)
from evaluation.runs.steps.asking.registration import (
    NamedPrompt,
    find_prompt,
    list_prompts,
    open_chat,
)

# A person waits for it.
PATIENCE = Patience(attempts=1, timeout=45.0)
DEFAULTS: dict[str, Any] = {"temperature": 0.0, "max_tokens": 256}
EXAMPLE = "Why does the Moon always show us the same side?"


class TryForm(forms.Form):
    """Form of a trial: a question and a prompt."""

    question = forms.CharField(
        label="Question",
        max_length=5000,
        initial=EXAMPLE,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Write a question."},
    )
    prompt = forms.ChoiceField(label="Prompt")
    passage = forms.CharField(
        label="Passage",
        required=False,
        max_length=50_000,
        help_text="For a prompt that shows the model a passage with the question.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, user: AnyUser, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        self.fields["prompt"] = forms.ChoiceField(
            label="Prompt", choices=[(prompt.id, prompt.name) for prompt in list_prompts(user)]
        )

    def clean(self) -> dict[str, Any]:
        """Validate that a prompt with a passage placeholder has a passage."""
        values: dict[str, Any] = super().clean() or {}
        if not self.errors and self.chosen().prompt.strategy == PASSAGE and not values["passage"]:
            sentence = "This prompt needs a passage."
            self.add_error("passage", ValidationError(sentence, "passage_missing"))
        return values

    def chosen(self) -> NamedPrompt:
        """Return the selected prompt of a valid form."""
        return find_prompt(self.cleaned_data["prompt"], self._user)

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation to send, from a valid form."""
        names = ("question", "passage")
        return self.chosen().prompt.messages({name: self.cleaned_data[name] for name in names})


@dataclass(frozen=True)
class Trial:
    """Result of a trial: the reply or an error.

    Attributes
    ----------
    messages : what was sent. seconds : it took; None where nothing was sent.
    fault : why there is no answer, and `remedy`, what to do; "" where there is one.
    """

    messages: tuple[Message, ...]
    reply: Reply | None
    seconds: float | None
    fault: str = ""
    remedy: str = ""

    @property
    def refused(self) -> bool:
        """Whether the model or a content filter refused to answer."""
        return self.reply is not None and self.reply.status.is_refusal

    @property
    def was_cut(self) -> bool:
        """Whether the reply was cut at the maximum length."""
        if self.reply is None:
            return False
        ended = read_finish(self.reply.finish_reason)
        return ended is Finish.LENGTH or self.reply.status is AnswerStatus.CUT_OFF


@dataclass(frozen=True)
class Prepared:
    """Trial that is ready to run without a database; `fault` is why it cannot start, or ""."""

    messages: tuple[Message, ...]
    chat: ChatModel | None
    parameters: Any
    fault: str = ""

    def run(self) -> Trial:
        """Ask the model and return the trial; errors become part of the result."""
        if self.chat is None:
            return Trial(self.messages, None, None, self.fault)
        try:
            result = asyncio.run(_ask_model(self.chat, self.messages, self.parameters))
        except (BackendError, InputError) as error:
            return Trial(self.messages, None, None, str(error))
        fault = result.reply.fault
        if fault is None:
            return Trial(self.messages, result.reply, result.seconds)
        remedy = get_fault_words(fault.code).remedy
        return Trial(self.messages, None, result.seconds, fault.message, remedy)


def prepared(model: LanguageModel, form: TryForm) -> Prepared:
    """Return the trial of a valid form, to run in another thread."""
    messages: tuple[Message, ...] = ()
    try:
        messages = form.messages()
        return Prepared(messages, open_chat(model, PATIENCE), dict(model.parameters or {}))
    except (BackendError, TemplateError, InputError) as error:
        return Prepared(messages, None, {}, str(error))


async def _ask_model(
    chat: ChatModel, messages: tuple[Message, ...], parameters: Any
) -> RecordedReply:
    planned = plan_requests(chat, [Item("try", messages)], {**DEFAULTS, **parameters})
    store = MemoryStore()
    outcome = await ask(chat, planned, store, Settings(at_once=1, patience=PATIENCE))
    return store.kept.get((0, 0)) or RecordedReply(
        Reply.failed(Fault("not_asked", outcome.reason or "it was not asked"))
    )


AT_ONCE = 8
"""Trials of a web process at the same time; each waits for the network."""
KEPT_SECONDS = 600
"""How long a result can be looked at."""

NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")

_places = threading.BoundedSemaphore(AT_ONCE)


class TrialRefusedError(Exception):
    """The trial cannot start: `code` is one_at_a_time or trials_busy."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class TrialState:
    """State of a trial: the form's values, and the result, None while pending."""

    asked: Mapping[str, str]
    result: Trial | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the model has not replied yet."""
        return self.result is None


def begin(user_id: int, prepared: Prepared, values: Mapping[str, str]) -> str:
    """Start a trial in the background and return its name. Raises `TrialRefusedError`."""
    name, of_user = secrets.token_urlsafe(12), f"trial-of-{user_id}"
    # It ends by itself, should the process be killed in the middle.
    longest = int(PATIENCE.timeout) + 30
    # `add` stores only if there is none, in one step: two requests at a time cannot both pass.
    if not cache.add(of_user, name, longest):
        raise TrialRefusedError("one_at_a_time")
    places = _places
    if not places.acquire(blocking=False):
        cache.delete(of_user)
        raise TrialRefusedError("trials_busy")
    key = _key(user_id, name)
    pending = TrialState(dict(values))
    cache.set(key, pending, longest)

    def run() -> None:
        try:
            cache.set(key, replace(pending, result=prepared.run()), KEPT_SECONDS)
        finally:
            cache.delete(of_user)
            places.release()

    # A daemon: a slow server must not hold up the end of the web process.
    threading.Thread(target=run, name="trial", daemon=True).start()
    return name


def load_trial(user_id: int, name: str) -> TrialState | None:
    """Return a user's trial by its name; None if unknown or expired."""
    # The name is from the address: some caches refuse keys with spaces or of great length. The key
    # holds the user, so no user sees the trial of another.
    state = cache.get(_key(user_id, name)) if NAME.fullmatch(name) else None
    return state if isinstance(state, TrialState) else None


def _key(user_id: int, name: str) -> str:
    return f"trial-{user_id}-{name}"
