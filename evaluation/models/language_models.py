"""Language models and what they answered."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.exchange.records import AnswerStatus
from annotations.models import VIEWERS, Access, Question, Record

STATUSES = [status.value for status in AnswerStatus]


def request_hash(prompt: str, parameters: dict[str, Any]) -> str:
    """SHA-256 of what a model was asked and how, in hexadecimal; equal requests have equal ones."""
    request = json.dumps([prompt, parameters], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(request.encode()).hexdigest()


class LanguageModel(Record):
    """One version of a language model under one strategy of asking it, as it is ranked."""

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
    parameters = models.JSONField(default=dict, blank=True)
    notice = models.TextField(blank=True, help_text="Shown wherever its answers show.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="language_model_once_per_owner",
                violation_error_message="You have a model of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="language_model_has_a_name"),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="language_model_list")]

    def __str__(self) -> str:
        return self.name


class LLMResponse(Record):
    """A model's answer to a question, asked with one prompt and one set of parameters.

    `sample` counts the repetitions of the same request from 0. Imported answers have no prompt.
    `request` is `request_hash(prompt, parameters)`.
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
    sample = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    status = models.CharField(
        max_length=20, choices=[(status.value, status.value) for status in AnswerStatus]
    )
    finish_reason = models.CharField(max_length=100, blank=True)
    extra = models.JSONField(default=dict, blank=True)

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
        indexes = [models.Index(fields=["model", "id"], name="llm_response_list")]

    def __str__(self) -> str:
        return f"response {self.public_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with the hash of the request if it has none (`bulk_create` wants it given)."""
        self.request = self.request or request_hash(self.prompt, self.parameters)
        super().save(*args, **kwargs)
