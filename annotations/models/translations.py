"""Model of the translations of a version's texts."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from django.db import models
from django.db.models import Q

from annotations.models.access import VIEWERS_AND_EXPERTS, Access
from annotations.models.base import Scoped
from annotations.models.question_sets import QuestionSetVersion
from annotations.models.questions import Passage, Question

Row = QuestionSetVersion | Passage | Question

KEYED: Final = (Question.Role.PRACTICE, Question.Role.ATTENTION, Question.Role.GOLD)
"""Roles of questions whose right answers are translated."""
LISTS: Final = ("choices", "accepted_answers")
TITLE: Final = "title"
"""The field for the title of the study, which only a version's translation has."""


class Translation(Scoped):
    """Translation of a passage, a question, or (if both keys are None) a version's own texts.

    `texts` has the translations by field name; choices and right answers are lists. `originals` has
    the hash of each translated original (`hash_original`), so that a later change is detected. The
    languages of a version are listed in its `languages`.
    """

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="translations"
    )
    language = models.CharField(max_length=35, help_text="As in BCP 47, such as ar.")
    # Unique indexes below begin with each of these two.
    passage = models.ForeignKey(
        Passage,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="translations",
        db_index=False,
    )
    question = models.ForeignKey(
        Question,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="translations",
        db_index=False,
    )
    texts = models.JSONField(default=dict)
    originals = models.JSONField(default=dict)

    class Meta:
        # One index for each kind of row: in one over all columns, NULLs would never be equal.
        constraints = [
            models.UniqueConstraint(
                fields=["version", "language"],
                condition=Q(passage=None, question=None),
                name="translation_of_version_once",
            ),
            models.UniqueConstraint(
                fields=["passage", "language"],
                condition=Q(passage__isnull=False),
                name="translation_of_passage_once",
            ),
            models.UniqueConstraint(
                fields=["question", "language"],
                condition=Q(question__isnull=False),
                name="translation_of_question_once",
            ),
            models.CheckConstraint(
                condition=Q(passage=None) | Q(question=None), name="translation_of_one_thing"
            ),
            models.CheckConstraint(condition=~Q(language=""), name="translation_says_its_language"),
        ]

    def __str__(self) -> str:
        return f"{self.question or self.passage or self.version} in {self.language}"

    def copy_unsaved(
        self, version: QuestionSetVersion, passage: Passage | None, question: Question | None
    ) -> Translation:
        """Return an unsaved copy for another version and its passage or question."""
        return Translation(
            version=version,
            language=self.language,
            passage=passage,
            question=question,
            texts=self.texts,
            originals=self.originals,
        )


def collect_translatable_texts(row: Row, language: str) -> dict[str, Any]:
    """Return the texts of a version, passage or question that need a translation, by field name.

    An item that is written in that language needs none. Choices are translated but never compared
    (the stored answer is the original choice), so their right answers need no translation.
    """
    if isinstance(row, QuestionSetVersion):
        return _drop_empty_texts({"guidelines": row.guidelines, "consent_text": row.consent_text})
    if row.language and row.language.lower() == language.lower():
        return {}
    if isinstance(row, Passage):
        alt = row.image_alt if row.image_id else ""
        return _drop_empty_texts({"title": row.title, "text": row.text, "image_alt": alt})
    is_choice = row.kind == Question.Kind.CHOICE
    return _drop_empty_texts(
        {
            "text": row.text,
            "choices": row.choices if is_choice else [],
            "accepted_answers": row.accepted_answers if row.role in KEYED and not is_choice else [],
            "feedback": row.feedback if row.role == Question.Role.PRACTICE else "",
        }
    )


def is_fully_translated(name: str, original: Any, translated: Any) -> bool:
    """Return whether a text, or for choices each of them, has a translation."""
    if name == "choices":
        return isinstance(translated, list) and len(translated) == len(original)
    return bool(translated.strip() if isinstance(translated, str) else translated)


def is_list_field(name: str) -> bool:
    """Return whether the field `name` of a question holds a list of texts."""
    return name in LISTS


def hash_original(original: Any) -> str:
    """Return a short hash of an original text, by which a later change of it is detected."""
    return hashlib.sha256(json.dumps(original, ensure_ascii=False).encode()).hexdigest()[:16]


def _drop_empty_texts(texts: dict[str, Any]) -> dict[str, Any]:
    """Return the texts that are not empty, by field name."""
    return {
        name: text
        for name, text in texts.items()
        if (text if isinstance(text, list) else text.strip())
    }
