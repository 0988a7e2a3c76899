"""Form of a language model: identity, connection and prices; a trial asks one question.

Trials of models in the background, so that no web thread waits for a slow server.

A trial runs in a thread of its own, a few at a time, and its result lies in the cache that all web
processes share until it is looked at. Each user has one trial at a time.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.utils.text import capfirst

from annotations.exchange.model_replies import FinishReason, classify_finish_reason
from annotations.exchange.problems import InputError
from annotations.exchange.records import AnswerStatus
from annotations.models.access import AnyUser
from evaluation.core.backends import BackendError
from evaluation.core.backends.chat import smollm2
from evaluation.core.backends.chat.contract import ChatModel, Fault, Message, Reply
from evaluation.core.backends.errors import split_model_at_url
from evaluation.core.backends.server import RetryRules
from evaluation.core.messages.reasons import get_fault_texts
from evaluation.core.options import SITE, OptionError, Parameters, Problem
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.asker import RequestSettings, ask_model
from evaluation.runs.flow.asking.options import LOCAL, OPENAI, ModelOptions
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
    convert_to_model_columns,
    find_prompt,
    find_registration_problems,
    list_prompts,
    open_chat_model,
    read_model_options,
)

ADDRESS, HERE, NOWHERE, KEPT = "address", "here", "nowhere", "kept"
PLACES = {
    ADDRESS: "Behind a web address (OpenAI-compatible)",
    HERE: "On this machine: SmolLM2-135M, the packaged model",
    NOWHERE: "Nowhere: its answers are uploaded as files",
    KEPT: "As an operator set it up",
}
DETAILS = ("family", "version", "size", "tuning", "strategy")
NEEDED_BEHIND = {
    "url": "Write the address of the server.",
    "called": "Write the name by which the server knows it.",
}
"""Fields without which there is no address, and what is said then."""

# Where a problem of an option shows.
FIELDS = {"spec": "url"}


class ModelForm(forms.Form):
    """Form of a language model: identity, connection and prices; `save` stores it."""

    name = forms.CharField(
        label="Name", max_length=255, help_text="As tables and pictures show it, such as Small 1."
    )
    place = forms.ChoiceField(label="Where it runs")
    url = forms.CharField(
        label="Web address",
        required=False,
        max_length=900,
        help_text="Of the server, up to /v1: such as https://api.example.org/v1.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off"}),
    )
    called = forms.CharField(
        label="What the server calls it",
        required=False,
        max_length=200,
        help_text="As its documentation writes it, with the version: such as small-1-2026-10.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    key_variable = forms.CharField(
        label="Variable of the key",
        required=False,
        max_length=100,
        help_text="Name of the environment variable of this server that holds the key, such as "
        "OPENAI_API_KEY. The key itself is never typed here, stored or shown.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    price_in = forms.FloatField(
        label="Price of a million tokens read",
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        help_text="In any currency, the same for both prices.",
    )
    price_out = forms.FloatField(
        label="Price of a million tokens written",
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    family = forms.CharField(label="Family", required=False, max_length=200)
    version = forms.CharField(
        label="Version",
        required=False,
        max_length=200,
        help_text="Used for the forecast of the next run.",
    )
    size = forms.CharField(label="Size", required=False, max_length=50, help_text="Such as 135M.")
    tuning = forms.CharField(
        label="Tuning", required=False, max_length=200, help_text="Such as instruct."
    )
    strategy = forms.CharField(
        label="Strategy", required=False, max_length=200, help_text="How it is asked, in a word."
    )
    notice = forms.CharField(
        label="Notice",
        required=False,
        max_length=2000,
        help_text="Shown wherever its answers show.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    parameters = forms.CharField(
        label="Parameters",
        required=False,
        max_length=5000,
        help_text='Sent with every request, as JSON: such as {"top_p": 0.9}. Temperature and '
        "length are chosen when it is asked.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )

    def __init__(self, user: AnyUser, model: LanguageModel, *args: Any, **kwargs: Any) -> None:
        """Fill the form with the values of `model`, which may be new."""
        kwargs["initial"] = {**_build_initial(model), **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        self.user, self.model = user, model
        places = [ADDRESS, *([HERE] if smollm2.is_installed() else []), NOWHERE]
        held = kwargs["initial"]["place"]
        places += [held] if held not in places else []
        choices = [(place, PLACES[place]) for place in places]
        self.fields["place"] = forms.ChoiceField(label="Where it runs", choices=choices)
        self.fields["place"].initial = held
        # From the raw data: which fields are required must be known before the form is cleaned.
        behind = (self.data.get("place") if self.is_bound else held) == ADDRESS
        for name, missing in NEEDED_BEHIND.items():
            self.fields[name].required = behind
            self.fields[name].error_messages["required"] = missing

    def list_basic_fields(self) -> list[forms.BoundField]:
        """Return the basic fields, which are always shown."""
        return [self["name"], self["place"]]

    def list_connection_fields(self) -> list[forms.BoundField]:
        """Return the form fields for the connection to a server."""
        return [self["url"], self["called"], self["key_variable"]]

    def iterate_field_groups(self) -> Iterable[tuple[str, list[forms.BoundField], bool]]:
        """Yield the collapsible groups of fields: title, fields, and whether it starts open."""
        groups = {
            "What it is": [*DETAILS, "notice"],
            "Prices and parameters": ["price_in", "price_out", "parameters"],
        }
        for title, names in groups.items():
            fields = [self[name] for name in names]
            yield title, fields, any(field.errors for field in fields)

    def clean_parameters(self) -> dict[str, Any]:
        """Return the request parameters parsed from JSON."""
        text = self.cleaned_data["parameters"]
        try:
            read: dict[str, Any] = ModelOptions.get_options()["parameters"].parse(text or "{}")
        except OptionError as error:
            wrong = error.problems[0]
            raise ValidationError(
                SITE.format_field_problem(Parameters, wrong), wrong.code
            ) from error
        return read

    def clean(self) -> dict[str, Any]:
        """Validate that the server may be called and that the name is free."""
        values: dict[str, Any] = super().clean() or {}
        if not self.errors:
            for wrong in find_registration_problems(self.build_options(), self.user):
                self._add_problem(wrong)
            self._check_name()
        return values

    def build_options(self) -> ModelOptions:
        """Return the connection options from the cleaned form."""
        values = self.cleaned_data
        behind = values["place"] == ADDRESS
        specs = {
            ADDRESS: f"{OPENAI}:{values['called']}@{values['url']}",
            HERE: LOCAL,
            NOWHERE: None,
            # An operator's SPEC, such as a file of replies, has no field here and stays as it is.
            KEPT: self.model.spec or None,
        }
        return ModelOptions(
            spec=specs[values["place"]],
            key_variable=(values["key_variable"] or None) if behind else None,
            parameters=values["parameters"],
            price_in=values["price_in"],
            price_out=values["price_out"],
        )

    def save(self) -> LanguageModel:
        """Save the model with the form's values and return it."""
        for name in ("name", *DETAILS, "notice"):
            setattr(self.model, name, self.cleaned_data[name])
        for name, value in convert_to_model_columns(self.build_options()).items():
            setattr(self.model, name, value)
        self.model.save()
        return self.model

    def _add_problem(self, wrong: Problem) -> None:
        """Add an option's problem to the errors of the form field that it is about."""
        sentence = SITE.format_field_problem(ModelOptions, wrong)
        self.add_error(
            FIELDS.get(wrong.option, wrong.option or None),
            ValidationError(f"{capfirst(sentence)}.".replace("..", "."), wrong.code),
        )

    def _check_name(self) -> None:
        """Add an error if another model of the owner has the name."""
        same = LanguageModel.objects.filter(
            owner_id=self.model.owner_id, name=self.cleaned_data["name"]
        )
        if same.exclude(pk=self.model.pk).exists():
            self.add_error("name", build_name_taken_error())


def build_name_taken_error() -> ValidationError:
    """Return the form error for a name that another model of the owner has."""
    return ValidationError("You have a model of this name.", "name_taken")


def _build_initial(model: LanguageModel) -> dict[str, Any]:
    """Return the form's initial values from a model, which may be new."""
    options = read_model_options(model)
    values = {name: getattr(model, name) for name in ("name", *DETAILS, "notice")}
    kind, _, target = model.spec.partition(":")
    parts = split_model_at_url(target) if kind == OPENAI else None
    if parts is not None:
        place = ADDRESS
    elif model.spec == LOCAL:
        place = HERE
    elif model.spec:
        place = KEPT
    else:
        place = ADDRESS if model.pk is None else NOWHERE
    return {
        **values,
        "place": place,
        "called": parts[0] if parts else "",
        "url": parts[1] if parts else "",
        "key_variable": model.key_variable,
        "price_in": options.price_in,
        "price_out": options.price_out,
        "parameters": json.dumps(model.parameters, ensure_ascii=False) if model.parameters else "",
    }


class NoteForm(forms.Form):
    """Form of a note about a model."""

    text = forms.CharField(
        label="New note",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Read by you, the owner of the model and who may change a question set that it "
        "answered in.",
        error_messages={"required": "Write what is to be remembered."},
    )


# A person waits for it.
PATIENCE = RetryRules(attempts=1, timeout=45.0)
DEFAULTS: dict[str, Any] = {"temperature": 0.0, "max_tokens": 256}
EXAMPLE = "Why does the Moon always show us the same side?"


class TrialForm(forms.Form):
    """Form of a trial: a question, a prompt and a passage to ask a model once."""

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
        if (
            not self.errors
            and self.find_chosen_prompt().prompt.strategy == PASSAGE
            and not values["passage"]
        ):
            sentence = "This prompt needs a passage."
            self.add_error("passage", ValidationError(sentence, "passage_missing"))
        return values

    def find_chosen_prompt(self) -> NamedPrompt:
        """Return the selected prompt of a valid form."""
        return find_prompt(self.cleaned_data["prompt"], self._user)

    def build_messages(self) -> tuple[Message, ...]:
        """Return the conversation to send, from a valid form."""
        names = ("question", "passage")
        return self.find_chosen_prompt().prompt.build_messages(
            {name: self.cleaned_data[name] for name in names}
        )


@dataclass(frozen=True)
class Trial:
    """Result of a trial question to a model: the reply or an error.

    Attributes
    ----------
    messages : the conversation that was sent. seconds : duration; None if nothing was sent.
    fault, remedy : why there is no answer, and what to do; "" for an answer.
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
        ended = classify_finish_reason(self.reply.finish_reason)
        return ended is FinishReason.LENGTH or self.reply.status is AnswerStatus.CUT_OFF


@dataclass(frozen=True)
class PreparedTrial:
    """Trial that can run without the database; `fault` is why it cannot start, or ""."""

    messages: tuple[Message, ...]
    chat: ChatModel | None
    parameters: Any
    fault: str = ""

    def ask_model(self) -> Trial:
        """Ask the model and return the result; errors become part of it."""
        if self.chat is None:
            return Trial(self.messages, None, None, self.fault)
        try:
            result = asyncio.run(_ask_model(self.chat, self.messages, self.parameters))
        except (BackendError, InputError) as error:
            return Trial(self.messages, None, None, str(error))
        fault = result.reply.fault
        if fault is None:
            return Trial(self.messages, result.reply, result.seconds)
        remedy = get_fault_texts(fault.code).remedy
        return Trial(self.messages, None, result.seconds, fault.message, remedy)


def prepare_trial(model: LanguageModel, form: TrialForm) -> PreparedTrial:
    """Return the trial of a valid form, ready to run in another thread."""
    messages: tuple[Message, ...] = ()
    try:
        messages = form.build_messages()
        return PreparedTrial(
            messages, open_chat_model(model, PATIENCE), dict(model.parameters or {})
        )
    except (BackendError, TemplateError, InputError) as error:
        return PreparedTrial(messages, None, {}, str(error))


async def _ask_model(
    chat: ChatModel, messages: tuple[Message, ...], parameters: Any
) -> RecordedReply:
    """Return the model's reply to one conversation, with its duration."""
    planned = plan_requests(chat, [Item("try", messages)], {**DEFAULTS, **parameters})
    store = MemoryStore()
    outcome = await ask_model(chat, planned, store, RequestSettings(at_once=1, patience=PATIENCE))
    return store.kept.get((0, 0)) or RecordedReply(
        Reply.from_fault(Fault("not_asked", outcome.reason or "it was not asked"))
    )


AT_ONCE = 8
"""Trials of a web process at the same time; each waits for the network."""
KEPT_SECONDS = 600
"""How long a result can be looked at."""

NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")

_places = threading.BoundedSemaphore(AT_ONCE)


class TrialRefusedError(Exception):
    """Error: the trial cannot start; `code` is one_at_a_time or trials_busy."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class TrialState:
    """State of a trial: the form's values, and the result, which is None while pending."""

    asked: Mapping[str, str]
    result: Trial | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the model has not replied yet."""
        return self.result is None


def start_trial(user_id: int, prepared: PreparedTrial, values: Mapping[str, str]) -> str:
    """Start a trial in the background and return its name; raise `TrialRefusedError` if busy."""
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
    key = _build_cache_key(user_id, name)
    pending = TrialState(dict(values))
    cache.set(key, pending, longest)

    def run_trial() -> None:
        """Run the trial, store its result in the cache, and free its place."""
        try:
            cache.set(key, replace(pending, result=prepared.ask_model()), KEPT_SECONDS)
        finally:
            cache.delete(of_user)
            places.release()

    # A daemon: a slow server must not hold up the end of the web process.
    threading.Thread(target=run_trial, name="trial", daemon=True).start()
    return name


def load_trial(user_id: int, name: str) -> TrialState | None:
    """Return a user's trial by its name; None if unknown or expired."""
    # The name is from the address: some caches refuse keys with spaces or of great length. The key
    # holds the user, so no user sees the trial of another.
    state = cache.get(_build_cache_key(user_id, name)) if NAME.fullmatch(name) else None
    return state if isinstance(state, TrialState) else None


def _build_cache_key(user_id: int, name: str) -> str:
    """Return the key under which the cache holds a user's trial."""
    return f"trial-{user_id}-{name}"
