"""The texts of a version in its further languages."""

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
LISTS: Final = ("choices", "accepted_answers")
TITLE: Final = "title"
"""What a version's translation may have beside its texts: how the study is called for people."""


class Translation(Scoped):
    """What a passage, a question or a version itself (both keys None) says in another language.

    `texts` holds the texts by the names of the fields that they translate; choices and right
    answers are lists. `originals` says by the same names which original it was translated from
    (`mark`), so that one notices when that was changed since. The languages that a version has
    stand in its `languages`.
    """

    access = Access(question_set="version__question_set", readers=VIEWERS_AND_EXPERTS)

    version = models.ForeignKey(
        QuestionSetVersion, on_delete=models.CASCADE, related_name="translations"
    )
    language = models.CharField(max_length=35, help_text="As in BCP 47, such as ar.")
    # Indexes below begin with these two.
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

    def copied_to(
        self, version: QuestionSetVersion, passage: Passage | None, question: Question | None
    ) -> Translation:
        """The same texts in another version, not saved."""
        return Translation(
            version=version,
            language=self.language,
            passage=passage,
            question=question,
            texts=self.texts,
            originals=self.originals,
        )


def to_translate(row: Row, language: str) -> dict[str, Any]:
    """Return what people read of a row, by the names of its fields: what a language has to have.

    Nothing of an item that is written in that language already. Choices are translated and never
    compared (the answer is the choice itself), so their right answers are not asked for.
    """
    if isinstance(row, QuestionSetVersion):
        return _filled({"guidelines": row.guidelines, "consent_text": row.consent_text})
    if row.language and row.language.lower() == language.lower():
        return {}
    if isinstance(row, Passage):
        alt = row.image_alt if row.image_id else ""
        return _filled({"title": row.title, "text": row.text, "image_alt": alt})
    is_choice = row.kind == Question.Kind.CHOICE
    return _filled(
        {
            "text": row.text,
            "choices": row.choices if is_choice else [],
            "accepted_answers": row.accepted_answers if row.role in KEYED and not is_choice else [],
            "feedback": row.feedback if row.role == Question.Role.PRACTICE else "",
        }
    )


def is_whole(name: str, original: Any, translated: Any) -> bool:
    """Return whether a text is translated; of choices each one has to be."""
    if name == "choices":
        return isinstance(translated, list) and len(translated) == len(original)
    return bool(translated.strip() if isinstance(translated, str) else translated)


def is_list(name: str) -> bool:
    """Return whether the text of that name is a list of texts."""
    return name in LISTS


def mark(original: Any) -> str:
    """Return a mark of an original text: it changes when the text does."""
    return hashlib.sha256(json.dumps(original, ensure_ascii=False).encode()).hexdigest()[:16]


def _filled(texts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: text
        for name, text in texts.items()
        if (text if isinstance(text, list) else text.strip())
    }
