"""Models of passages, questions about them, and other wordings of questions."""

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
    """Base class of passages and questions: id in files, position, text and language."""

    external_id = models.CharField(max_length=255, help_text="The id in files.")
    position = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    language = models.CharField(max_length=35, blank=True, help_text="As in BCP 47, such as en.")
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.external_id

    def _copy_as_new(self) -> Self:
        """Return an unsaved copy of the item with a new public id."""
        item = copy(self)
        item._state = copy(self._state)
        # Relations that are loaded already belong to the old version.
        item._state.fields_cache = {}
        item._state.adding = True
        item.pk = None
        item.public_id = new_public_id()
        return item


class Passage(Item):
    """Text that questions are about, optionally with an image.

    A passage with an image needs an `image_alt`, for readers who do not see the image, before its
    version is published. `format` states whether the text has formatting.
    """

    class Format(models.TextChoices):
        """Format of the text: plain (from files) or with simple formatting (from the editor)."""

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
        help_text="Hash of its content at import; empty if it was not imported.",
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

    def copy_unsaved(self, version: QuestionSetVersion) -> Passage:
        """Return an unsaved copy of the passage for another version."""
        item = self._copy_as_new()
        item.version = version
        return item


class QuestionQuerySet(ScopedQuerySet["Question"]):
    """Queryset of questions, with a filter for graded ones."""

    def graded(self) -> Self:
        """Return the questions whose answers are graded: neither practice nor attention checks."""
        return self.filter(role__in=GRADED)


class Question(Item):
    """Question of a version; `text` is "" while only the id is known, from imported answers.

    `choices` and `accepted_answers` are lists of texts; an entry of the latter may be a list of
    texts with the same meaning. `answerable` is None if not known. `feedback` is shown after an
    answer in practice. `max_characters` limits an answer; None: only the site's limit applies.
    """

    class Kind(models.TextChoices):
        """Way in which a question is answered, by which its answers are matched."""

        FREE = "free", "free text"
        SHORT = "short", "short text"
        EXTRACTIVE = "extractive", "a span of the passage"
        CHOICE = "choice", "one of the choices"

    class Role(models.TextChoices):
        """Use of a question's answers: grading, practice or attention check.

        Practice comes first and is never graded. An attention check has a right answer that any
        attentive reader gives; it is not graded either. A gold question is asked and graded as
        usual, and its right answer is known.
        """

        GRADED = "graded", "graded"
        PRACTICE = "practice", "practice, with feedback"
        ATTENTION = "attention", "attention check"
        GOLD = "gold", "gold: graded, and its answer is known"

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    # An index below begins with this column, so it needs none of its own.
    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    # RESTRICT and not PROTECT, which would also refuse to delete a version with both.
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
        help_text="Hash of its content at import; empty if it was not imported.",
    )

    objects = QuestionQuerySet.as_manager()  # type: ignore[misc]

    choice_labels: Sequence[str] = ()
    """The choices in the language in which the question is shown; not stored."""

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
        """Whether answers to the question are graded."""
        return self.role in GRADED

    @property
    def labelled_choices(self) -> list[tuple[str, str]]:
        """Choices as (choice, label): answers in any language store the choice."""
        return list(zip(self.choices, self.choice_labels or self.choices, strict=True))

    def format_answer(self, answer: str) -> str:
        """Return an answer for display: the label of a choice, any other text unchanged."""
        return dict(self.labelled_choices).get(answer, answer)

    @property
    def accepted_texts(self) -> list[str]:
        """All accepted answers in one list, including their alternative spellings."""
        return [
            str(text)
            for entry in self.accepted_answers
            for text in (entry if isinstance(entry, list) else [entry])
        ]

    def accepts_answer(self, answer: str) -> bool | None:
        """Return whether an answer is accepted; None if the question has no accepted answers.

        Ignores case, extra spaces and the composition of characters.
        """
        accepted = self.accepted_texts
        return (
            normalise_for_matching(answer) in map(normalise_for_matching, accepted)
            if accepted
            else None
        )

    def copy_unsaved(self, version: QuestionSetVersion) -> Question:
        """Return an unsaved copy for another version; the caller replaces its passage."""
        item = self._copy_as_new()
        item.version = version
        return item


GRADED = (Question.Role.GRADED, Question.Role.GOLD)
"""Roles whose answers are graded."""


def normalise_for_matching(text: str) -> str:
    """Return a text as answers are matched with accepted ones: NFKC, case-folded, one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class Variant(Item):
    """An alternative wording of a question, for example in a dialect or another language."""

    class Kind(models.TextChoices):
        """How the wording differs from the question: rewording, dialect, translation or style."""

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

    def copy_unsaved(self, question: Question) -> Variant:
        """Return an unsaved copy of the wording for a question of another version."""
        item = self._copy_as_new()
        item.question = question
        return item
