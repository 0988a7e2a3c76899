"""Passages, the questions about them, and other wordings of the questions."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from copy import copy
from typing import Self

from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS_AND_EXPERTS, Access
from annotations.models.base import Record, ScopedQuerySet, new_public_id
from annotations.models.images import Image
from annotations.models.imports import Import
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
    """A text that questions are asked about, perhaps with a picture.

    A passage with an image needs an `image_alt` before its version is published: what people get
    who do not see it. How the text is to be read says `format`.
    """

    class Format(models.TextChoices):
        """Texts from files are shown as they are; the editor writes simple formatting."""

        PLAIN = "plain", "plain text"
        SIMPLE = "simple", "simple formatting"

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="passages"
    )
    title = models.CharField(max_length=500, blank=True)
    format = models.CharField(max_length=6, choices=Format.choices, default=Format.PLAIN)
    image = models.ForeignKey(
        Image, on_delete=models.RESTRICT, null=True, blank=True, related_name="passages"
    )
    image_alt = models.TextField(blank=True, help_text="The image in words.")
    brought_by = models.ForeignKey(
        Import,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="passages",
        help_text="The import that made it; empty for all others.",
    )
    brought_as = models.CharField(
        max_length=32,
        blank=True,
        editable=False,
        help_text="A mark of what the import said of it, which brought it; empty for all others.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "external_id"], name="passage_id_once"),
            models.CheckConstraint(condition=~Q(external_id=""), name="passage_has_an_id"),
            models.CheckConstraint(
                condition=Q(format__in=["plain", "simple"]), name="passage_format_is_known"
            ),
        ]
        indexes = [models.Index(fields=["version", "position", "id"], name="passage_order")]

    def copied_to(self, version: QuestionSetVersion) -> Passage:
        """The same passage in another version, not saved."""
        fresh = self._fresh()
        fresh.version = version
        return fresh


class QuestionQuerySet(ScopedQuerySet["Question"]):
    """Questions, and among them those that count."""

    def graded(self) -> Self:
        """Those whose answers are graded: neither practice nor attention checks."""
        return self.filter(role__in=GRADED)


class Question(Item):
    """A question of a version; `text` is empty while only its id is known from a file of answers.

    `choices` and `accepted_answers` are lists of texts (an entry of the latter may be a list of
    texts that mean the same); `answerable` is None where nobody said. `feedback` is shown after
    an answer to a practice question. `max_characters` is the length that an answer may have, None
    where only the limit of the site holds.
    """

    class Kind(models.TextChoices):
        """How it is answered (and which matcher suits its answers)."""

        FREE = "free", "free text"
        SHORT = "short", "short text"
        EXTRACTIVE = "extractive", "a span of the passage"
        CHOICE = "choice", "one of the choices"

    class Role(models.TextChoices):
        """What its answers are for.

        Practice comes first and is never graded. An attention check has a right answer that who
        reads it gives; it is not graded either. A gold question is asked and graded as any other,
        and its right answer is known beside.
        """

        GRADED = "graded", "graded"
        PRACTICE = "practice", "practice, with feedback"
        ATTENTION = "attention", "attention check"
        GOLD = "gold", "gold: graded, and its answer is known"

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    passage = models.ForeignKey(
        Passage, on_delete=models.RESTRICT, null=True, blank=True, related_name="questions"
    )
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.FREE)
    role = models.CharField(max_length=9, choices=Role.choices, default=Role.GRADED)
    choices = models.JSONField(default=list, blank=True)
    accepted_answers = models.JSONField(default=list, blank=True)
    feedback = models.TextField(blank=True, help_text="Shown after an answer, in practice.")
    max_characters = models.PositiveIntegerField(
        null=True, blank=True, help_text="Characters that an answer may have; empty: no own limit."
    )
    answerable = models.BooleanField(null=True, blank=True)
    category = models.CharField(max_length=200, blank=True)
    brought_by = models.ForeignKey(
        Import,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="questions",
        help_text="The import that made it; empty for all others.",
    )
    brought_as = models.CharField(
        max_length=32,
        blank=True,
        editable=False,
        help_text="A mark of what the import said of it, which brought it; empty for all others.",
    )

    objects = QuestionQuerySet.as_manager()  # type: ignore[misc]

    choice_labels: Sequence[str] = ()
    """How the choices read in the language in which the question is shown; not stored."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "external_id"], name="question_id_once"),
            models.CheckConstraint(condition=~Q(external_id=""), name="question_has_an_id"),
            models.CheckConstraint(
                condition=Q(kind__in=["free", "short", "extractive", "choice"]),
                name="question_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(role__in=["graded", "practice", "attention", "gold"]),
                name="question_role_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(kind="choice") | ~Q(choices=[]),
                name="question_with_choice_has_choices",
            ),
            models.CheckConstraint(
                condition=Q(max_characters__isnull=True) | Q(max_characters__gte=1),
                name="question_length_from_1",
            ),
        ]
        indexes = [models.Index(fields=["version", "position", "id"], name="question_order")]

    @property
    def is_graded(self) -> bool:
        """Whether its answers are graded."""
        return self.role in GRADED

    @property
    def labelled_choices(self) -> list[tuple[str, str]]:
        """The choices with what is read of each: an answer is the choice, in any language."""
        return list(zip(self.choices, self.choice_labels or self.choices, strict=True))

    def read_as(self, answer: str) -> str:
        """Return an answer as it is read: of a choice its label, any other text as it stands."""
        return dict(self.labelled_choices).get(answer, answer)

    def accepts(self, answer: str) -> bool | None:
        """Return whether an answer is one of the accepted ones; None where none are written down.

        Compared without regard to case, to spaces at the ends or doubled, and to the way in which
        characters are composed.
        """
        accepted = [
            text
            for entry in self.accepted_answers
            for text in (entry if isinstance(entry, list) else [entry])
        ]
        return folded(answer) in map(folded, accepted) if accepted else None

    def copied_to(self, version: QuestionSetVersion) -> Question:
        """The same question in another version, not saved; its passage is still the old one."""
        fresh = self._fresh()
        fresh.version = version
        return fresh


GRADED = (Question.Role.GRADED, Question.Role.GOLD)
"""Roles whose answers are graded."""


def folded(text: str) -> str:
    """Return a text as two are compared that may be written in several ways."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


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
