"""Passages, the questions about them, and other wordings of the questions."""

from __future__ import annotations

from copy import copy
from typing import Self

from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS_AND_EXPERTS, Access
from annotations.models.base import Record, new_public_id
from annotations.models.question_sets import QuestionSetVersion


class Item(Record):
    """A part of a version: an id within it, a place in its order, a text."""

    external_id = models.CharField(max_length=255, help_text="The id in files.")
    position = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    language = models.CharField(max_length=35, blank=True, help_text="As in BCP 47, such as en.")
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.external_id

    def _fresh(self) -> Self:
        fresh = copy(self)
        fresh._state = copy(self._state)
        fresh._state.fields_cache = {}
        fresh._state.adding = True
        fresh.pk = None
        fresh.public_id = new_public_id()
        return fresh


class Passage(Item):
    """A text that questions are asked about."""

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="passages"
    )
    title = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "external_id"], name="passage_id_once"),
            models.CheckConstraint(condition=~Q(external_id=""), name="passage_has_an_id"),
        ]
        indexes = [models.Index(fields=["version", "position", "id"], name="passage_order")]

    def copied_to(self, version: QuestionSetVersion) -> Passage:
        """The same passage in another version, not saved."""
        fresh = self._fresh()
        fresh.version = version
        return fresh


class Question(Item):
    """A question of a version; `text` is empty while only its id is known from a file of answers.

    `choices` and `accepted_answers` are lists of texts; `answerable` is None where nobody said.
    """

    class Kind(models.TextChoices):
        """How it is answered (and which matcher suits its answers)."""

        FREE = "free", "free text"
        EXTRACTIVE = "extractive", "a span of the passage"
        CHOICE = "choice", "one of the choices"

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    passage = models.ForeignKey(
        Passage, on_delete=models.RESTRICT, null=True, blank=True, related_name="questions"
    )
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.FREE)
    choices = models.JSONField(default=list, blank=True)
    accepted_answers = models.JSONField(default=list, blank=True)
    answerable = models.BooleanField(null=True, blank=True)
    category = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "external_id"], name="question_id_once"),
            models.CheckConstraint(condition=~Q(external_id=""), name="question_has_an_id"),
            models.CheckConstraint(
                condition=Q(kind__in=["free", "extractive", "choice"]),
                name="question_kind_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(kind="choice") | ~Q(choices=[]),
                name="question_with_choice_has_choices",
            ),
        ]
        indexes = [models.Index(fields=["version", "position", "id"], name="question_order")]

    def copied_to(self, version: QuestionSetVersion) -> Question:
        """The same question in another version, not saved; its passage is still the old one."""
        fresh = self._fresh()
        fresh.version = version
        return fresh


class Variant(Item):
    """A question in other words, in a dialect or in another language."""

    class Kind(models.TextChoices):
        """What differs from the question."""

        REWORDING = "rewording"
        DIALECT = "dialect"
        TRANSLATION = "translation"
        STYLE = "style"

    access = Access(question_set="question__version__question_set", readers=VIEWERS_AND_EXPERTS)

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="variants")
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.REWORDING)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "external_id"], name="variant_id_once"),
            models.CheckConstraint(
                condition=~Q(external_id="") & ~Q(text=""), name="variant_has_an_id_and_a_text"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["rewording", "dialect", "translation", "style"]),
                name="variant_kind_is_known",
            ),
        ]

    def copied_to(self, question: Question) -> Variant:
        """The same wording of another version's question, not saved."""
        fresh = self._fresh()
        fresh.question = question
        return fresh
