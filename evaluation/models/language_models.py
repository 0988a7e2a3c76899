"""Language models, their answers and prompts, and vectors of texts.

Prompts of requesters: a name, and versions that never change. Vectors of texts, each computed once.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import Exact
from django.utils import timezone

from annotations.exchange.records import AnswerStatus
from annotations.models import (
    EDITORS,
    UNLISTED,
    VIEWERS,
    Access,
    AppendOnly,
    Import,
    Question,
    Record,
    Scoped,
)
from annotations.models.notes import Note
from evaluation.models.runs import Run

STATUSES = [status.value for status in AnswerStatus]


def compute_request_hash(prompt: str, parameters: dict[str, Any]) -> str:
    """Return the SHA-256 of a prompt and its parameters, in hexadecimal."""
    # Sorted, so that equal parameters in another order are the same request.
    request = json.dumps([prompt, parameters], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(request.encode()).hexdigest()


class LanguageModel(Record):
    """A version of a language model with one prompting strategy; the unit that is ranked.

    `spec` names the back-end (`evaluation.core.backends.chat.registry`), "" for imported answers
    only; `parameters` are sent with every request. Prices are per million prompt and completion
    tokens. Of an API key only the name of its environment variable is stored.
    """

    access = Access(
        owner="owner", answered_in="responses__question__version__question_set", readers=VIEWERS
    )

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="language_models"
    )
    name = models.CharField(max_length=255, help_text="The name in files and tables.")
    family = models.CharField(max_length=200, blank=True)
    version = models.CharField(max_length=200, blank=True)
    size = models.CharField(max_length=50, blank=True, help_text="Such as 135M.")
    tuning = models.CharField(max_length=200, blank=True, help_text="Such as instruct.")
    strategy = models.CharField(max_length=200, blank=True, help_text="How it is asked.")
    spec = models.CharField(
        max_length=1000,
        blank=True,
        help_text="How it is reached, such as openai:MODEL@https://HOST/v1; empty for a model "
        "whose answers are only imported.",
    )
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Sent with every request, such as top_p."
    )
    price_in = models.FloatField(
        null=True, blank=True, help_text="Money for a million tokens that it reads."
    )
    price_out = models.FloatField(
        null=True, blank=True, help_text="Money for a million tokens that it writes."
    )
    key_variable = models.CharField(
        max_length=100,
        blank=True,
        help_text="Name of the environment variable that holds the key; empty for none.",
    )
    notice = models.TextField(blank=True, help_text="Shown wherever its answers show.")
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Hidden from lists and choices since then."
    )
    next_request_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="From when on a run with a limit of requests per minute may send the next one.",
    )
    brought_by = models.ForeignKey(
        Import,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="language_models",
        help_text="The import of answers that made it; empty for all others.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="language_model_once_per_owner",
                violation_error_message="You have a model of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="language_model_has_a_name"),
            models.CheckConstraint(
                condition=Q(price_in__isnull=True, price_out__isnull=True)
                | Q(price_in__gte=0, price_out__gte=0),
                name="language_model_has_both_prices_or_none",
            ),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="language_model_list")]

    def __str__(self) -> str:
        return self.name

    @property
    def has_prices(self) -> bool:
        """Whether the model's prices are known."""
        return self.price_in is not None and self.price_out is not None


class LanguageModelNote(Note):
    """A user's note about a language model.

    Visible to the author, to the model's owner, and to users who may edit a set with its answers.
    """

    access = Access(
        owner="model__owner",
        answered_in="model__responses__question__version__question_set",
        people="author",
        readers=EDITORS,
    )

    model = models.ForeignKey(
        LanguageModel, on_delete=models.CASCADE, related_name="notes", db_index=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="language_model_notes"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="language_model_note_says_sth"),
        ]
        indexes = [models.Index(fields=["model", "-id"], name="language_model_note_newest")]


class LLMResponse(Record):
    """A language model's answer to a question, for one prompt and one set of parameters.

    `sample` counts the repetitions of the same request from 0. Imported answers have no prompt.
    `request` is `compute_request_hash(prompt, parameters)`. Of several askings of a question the
    latest, by `asked_at`, is graded.

    An answer that was collected here (`evaluation.runs.steps.asking`) has in `prompt` the messages
    as JSON and in `parameters` the model's SPEC and all that was sent. `asking` is the hash of what
    all answers of one configuration share (SPEC, prompt, parameters). `key` is the hash of all
    inputs of the reply: a stored reply is found by it and not requested again. `run` is the run
    that asked. `brought_by` is the import that stored the answer; None for a collected one, and for
    one imported before imports were recorded.
    """

    access = Access(question_set="question__version__question_set", readers=VIEWERS)

    model = models.ForeignKey(
        LanguageModel, on_delete=models.PROTECT, related_name="responses", db_index=False
    )
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="llm_responses", db_index=False
    )
    prompt = models.TextField(blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    request = models.CharField(max_length=64, editable=False)
    asking = models.CharField(max_length=64, blank=True, editable=False)
    key = models.CharField(max_length=64, blank=True, editable=False)
    run = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="replies"
    )
    asked_at = models.DateTimeField(default=timezone.now)
    sample = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    status = models.CharField(
        max_length=20, choices=[(status.value, status.value) for status in AnswerStatus]
    )
    finish_reason = models.CharField(max_length=100, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    brought_by = models.ForeignKey(
        Import,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="llm_responses",
        db_index=False,
    )

    class Meta:
        verbose_name = "model response"
        constraints = [
            models.UniqueConstraint(
                fields=["question", "model", "request", "sample"], name="llm_response_once"
            ),
            models.CheckConstraint(
                condition=Q(status__in=STATUSES), name="llm_response_status_is_known"
            ),
            models.CheckConstraint(
                condition=(~Q(status="text") | ~Q(text="")) & (~Q(status="empty") | Q(text="")),
                name="llm_response_status_fits_text",
            ),
            models.CheckConstraint(condition=~Q(request=""), name="llm_response_has_its_hash"),
        ]
        indexes = [
            models.Index(fields=["model", "id"], name="llm_response_list"),
            # Only answers collected here have a key: the index is without the imported ones.
            models.Index(fields=["key"], condition=~Q(key=""), name="llm_response_reply"),
            models.Index(
                fields=["brought_by", "id"],
                condition=Q(brought_by__isnull=False),
                name="llm_response_of_import",
            ),
        ]

    def __str__(self) -> str:
        return f"response {self.public_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the answer; compute the hash of its request if it is missing.

        `bulk_create` does not call this method: it needs the hash set beforehand.
        """
        self.request = self.request or compute_request_hash(self.prompt, self.parameters)
        super().save(*args, **kwargs)


class RawReply(Scoped):
    """Raw request and server reply of a collected answer, without API keys.

    `reply` is JSON, or text if a server sent something else; None without a reply. It has the
    log-probabilities if they were requested and sent.
    """

    access = Access(question_set="response__question__version__question_set", readers=VIEWERS)

    response = models.OneToOneField(
        LLMResponse, on_delete=models.CASCADE, related_name="raw", primary_key=True
    )
    request = models.JSONField(null=True)
    reply = models.JSONField(null=True)

    class Meta:
        verbose_name_plural = "raw replies"

    def __str__(self) -> str:
        return f"raw reply of {self.response_id}"


STRATEGIES = ("closed", "passage")


class Prompt(Record):
    """A named prompt for language models; its text is in its versions."""

    access = Access(owner="owner")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="prompts"
    )
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="prompt_name_once_per_owner",
                violation_error_message="You have a prompt of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="prompt_has_a_name"),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="prompt_list")]

    def __str__(self) -> str:
        return self.name

    def find_latest_version(self) -> PromptVersion:
        """Return the prompt's version with the highest number; there is always one."""
        return self.versions.order_by("-number")[0]


class PromptVersion(AppendOnly):
    """Version of a prompt: system text and template; every edit creates a new version.

    `hash` is that of `evaluation.runs.flow.asking.plan.Prompt`: equal texts have equal hashes,
    also of different users.
    """

    access = Access(owner="prompt__owner")

    prompt = models.ForeignKey(
        Prompt, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField(help_text="From 1.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="prompt_versions"
    )
    strategy = models.CharField(max_length=10, choices=[(name, name) for name in STRATEGIES])
    system = models.TextField(blank=True)
    template = models.TextField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prompt", "number"], name="prompt_version_once"),
            models.CheckConstraint(
                condition=Q(strategy__in=STRATEGIES), name="prompt_strategy_is_known"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1) & ~Q(hash="") & ~Q(template=""),
                name="prompt_version_is_whole",
            ),
        ]
        ordering = ["prompt", "number"]

    def __str__(self) -> str:
        return f"{self.prompt}, version {self.number}"


HASH_BYTES = 32


def compute_text_hash(text: str) -> bytes:
    """Return the SHA-256 of a text in UTF-8, as bytes: the key of its vector."""
    return hashlib.sha256(text.encode()).digest()


def build_length_condition(field: str, n_bytes: Any) -> Q:
    """Return the condition that a binary column is `n_bytes` long."""
    return Q(Exact(Length(field), n_bytes))


class EmbedderVersion(models.Model):
    """Embedder configuration: everything besides the text that determines the vectors.

    Rows have no personal data and no owner; pages never list them.
    """

    access = UNLISTED

    model = models.CharField(max_length=255)
    revision = models.CharField(max_length=255, blank=True)
    precision = models.CharField(max_length=20)
    max_length = models.PositiveIntegerField(
        default=0, help_text="Tokens after which a text is cut; 0 where there is no limit."
    )
    prefix = models.CharField(max_length=500, blank=True, help_text="Put before every text.")
    dimension = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "revision", "precision", "max_length", "prefix"],
                name="embedder_version_once",
            ),
            models.CheckConstraint(
                condition=~Q(model="") & ~Q(precision=""), name="embedder_version_is_named"
            ),
            models.CheckConstraint(condition=Q(dimension__gte=1), name="embedder_has_a_dimension"),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.revision} {self.precision}"


class Embedding(models.Model):
    """Vector of one text under one embedder; equal texts of different users share it.

    `vector` holds `dimension` numbers as float32, little-endian.
    """

    access = UNLISTED

    embedder = models.ForeignKey(
        EmbedderVersion, on_delete=models.CASCADE, related_name="embeddings", db_index=False
    )
    text_hash = models.BinaryField(max_length=HASH_BYTES)
    dimension = models.PositiveIntegerField()
    vector = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["embedder", "text_hash"], name="embedding_once"),
            models.CheckConstraint(
                condition=build_length_condition("text_hash", HASH_BYTES),
                name="embedding_has_a_sha256",
            ),
            models.CheckConstraint(
                condition=build_length_condition("vector", F("dimension") * 4)
                & Q(dimension__gte=1),
                name="embedding_is_of_its_dimension",
            ),
        ]

    def __str__(self) -> str:
        return f"embedding {bytes(self.text_hash).hex()[:12]}"
