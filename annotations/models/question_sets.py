"""Models of question sets and their versions."""

from __future__ import annotations

import hashlib
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotations.models.access import VIEWERS_AND_EXPERTS, Access
from annotations.models.base import Record
from annotations.models.teams import Team

COPIED_OF_IMAGES = ("content", "media_type", "width", "height", "sha256")
"""Fields of an image that a copy takes over."""


class QuestionSet(Record):
    """A set of questions that are asked together, in versions; the unit of sharing and grading.

    `team` is the team that edits it with the owner, None without one. `earlier_wave` is the set
    that it repeats, None if it repeats none; `wave_people` states who may answer then.
    """

    class WavePeople(models.TextChoices):
        """Workers who may take part in a later wave: the same ones, others, or anyone."""

        SAME = "same", "The same people: only who handed in in the wave before"
        OTHERS = "others", "Other people: none who took part in an earlier wave"
        ANYBODY = "anybody", "Anybody, whether they took part before or not"

    access = Access(question_set="pk", readers=VIEWERS_AND_EXPERTS)

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="question_sets"
    )
    team = models.ForeignKey(
        Team, on_delete=models.SET_NULL, null=True, blank=True, related_name="question_sets"
    )
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    notice = models.TextField(
        blank=True,
        help_text="Shown with its answers, such as: invented for a demo.",
    )
    language = models.CharField(max_length=35, blank=True, help_text="As in BCP 47, such as en.")
    licence = models.CharField(
        max_length=200,
        blank=True,
        help_text="Under which its questions and answers may be passed on, such as CC-BY-4.0.",
    )
    earlier_wave = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="later_waves",
    )
    wave_people = models.CharField(
        max_length=7, choices=WavePeople.choices, blank=True, editable=False
    )
    updated_at = models.DateTimeField(auto_now=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Hidden from lists since then; nothing is started."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="question_set_name_once_per_owner",
                violation_error_message="You have a question set of this name.",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="question_set_has_a_name"),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="question_set_list")]

    def __str__(self) -> str:
        return self.name

    def latest_version(self) -> QuestionSetVersion | None:
        """Return the version with the highest number, draft or published; None if there is none."""
        return self.versions.order_by("-number").first()

    def get_default_version(self, *, answered: bool = False) -> QuestionSetVersion | None:
        """Return the version that commands and the REST API use by default; None if there is none.

        This is the latest published one; with `answered`, the latest published one that has
        answers, if there is any. A draft is the default only if nothing is published.
        """
        published = self.versions.filter(published_at__isnull=False).order_by("-number")
        if answered:
            # Tested by EXISTS: a join would repeat a version for each of its answers.
            with_answers = QuestionSetVersion.objects.filter(
                pk=OuterRef("pk"), submissions__responses__state="submitted"
            )
            if (version := published.filter(Exists(with_answers)).first()) is not None:
                return version
        return published.first() or self.latest_version()

    def draft(self) -> QuestionSetVersion:
        """Return the version that can be edited; without one, create and return it.

        Without a draft, one is created: empty for a new set, otherwise a copy of the latest
        version. The caller locks the set's row if others may do the same.
        """
        latest = self.latest_version()
        if latest is None:
            return self.versions.create(number=1)
        return latest.copy_as_draft() if latest.is_published else latest


class QuestionSetVersion(Record):
    """Numbered version of a question set, which is a draft or published (frozen).

    A draft can be edited. Publishing freezes it: the database refuses new questions and changed
    texts, and answers keep their version. Only a question without a text, known by its id from
    imported answers, can still get one.

    `guidelines` (how to answer) and `consent_text` are shown before the first question, with simple
    formatting. `language` is that of both, and of passages and questions without a language of
    their own; if empty, the set's language applies. `languages` are further languages in which
    workers may answer, in the order of the menu; their texts are translations. `shown_in` is the
    language in which the texts are shown now, and is not stored.
    """

    access = Access(question_set="question_set", readers=VIEWERS_AND_EXPERTS)
    shown_in: str = ""

    question_set = models.ForeignKey(QuestionSet, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    published_at = models.DateTimeField(null=True, blank=True, help_text="Empty for a draft.")
    guidelines = models.TextField(blank=True, help_text="How to answer; shown to workers.")
    consent_text = models.TextField(blank=True, help_text="What workers agree to; shown to them.")
    language = models.CharField(max_length=35, blank=True, help_text="As in BCP 47, such as en.")
    languages = models.JSONField(
        default=list, blank=True, help_text="Further languages of its texts, as in BCP 47."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question_set", "number"], name="version_number_once"),
            models.UniqueConstraint(
                fields=["question_set"],
                condition=Q(published_at=None),
                name="version_one_draft_at_a_time",
                violation_error_message="This question set has a draft already.",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_counts_from_1"),
        ]
        ordering = ["question_set", "number"]

    def __str__(self) -> str:
        return f"{self.question_set}, version {self.number}"

    @property
    def is_published(self) -> bool:
        """Whether the version is published, so that its wording is frozen."""
        return self.published_at is not None

    @property
    def consent_hash(self) -> str:
        """SHA-256 of the consent text, stored with each consent; "" without a text."""
        return hash_consent_text(self.consent_text)

    @property
    def text_language(self) -> str:
        """Language (BCP 47 tag) of the version's own texts; "" if unknown."""
        return self.language or self.question_set.language

    @property
    def all_languages(self) -> tuple[str, ...]:
        """Languages (BCP 47 tags) in which workers may answer, the original language first.

        A version without translations has one, which is "" if it is not set.
        """
        return (self.text_language, *self.languages)

    def publish(self) -> bool:
        """Freeze the wording of the version; return False if it was frozen already."""
        now = timezone.now()
        drafts = QuestionSetVersion.objects.filter(pk=self.pk, published_at=None)
        # A conditional update: of two simultaneous requests only one finds the draft.
        published = drafts.update(published_at=now)
        self.refresh_from_db(fields=["published_at"])
        return bool(published)

    def copy_as_draft(self) -> QuestionSetVersion:
        """Create and return a draft of the same set with the next number and this content."""
        return self.copy_into_set(self.question_set, self.number + 1)

    @transaction.atomic
    def copy_into_set(self, question_set: QuestionSet, number: int) -> QuestionSetVersion:
        """Create and return a draft with this content, in this or another question set.

        In another set, images are copied, and the questions belong to no import.
        """
        draft = QuestionSetVersion.objects.create(
            question_set=question_set,
            number=number,
            guidelines=self.guidelines,
            consent_text=self.consent_text,
            language=self.language,
            languages=self.languages,
        )
        # Ids decide between equal positions, so the copy has the order that pages show.
        order = ("position", "id")
        passages = {old.pk: old.copy_unsaved(draft) for old in self.passages.order_by(*order)}
        is_other_set = question_set.pk != self.question_set_id
        if is_other_set:
            _copy_passage_images(list(passages.values()), question_set)
        # Before the questions, which need the keys of their passages.
        draft.passages.bulk_create(passages.values(), batch_size=1000)
        questions = {}
        for old in self.questions.order_by(*order):
            questions[old.pk] = old.copy_unsaved(draft)
            questions[old.pk].passage = passages[old.passage_id] if old.passage_id else None
            if is_other_set:
                questions[old.pk].brought_by, questions[old.pk].brought_as = None, ""
        draft.questions.bulk_create(questions.values(), batch_size=1000)
        # Looked up by name, because the module of questions imports this one.
        variants = apps.get_model("annotations", "Variant")._default_manager
        variants.bulk_create(
            (
                old.copy_unsaved(questions[old.question_id])
                for old in variants.filter(question__version=self).order_by(*order)
            ),
            batch_size=1000,
        )
        translations = apps.get_model("annotations", "Translation")._default_manager
        translations.bulk_create(
            (
                old.copy_unsaved(
                    draft,
                    passages[old.passage_id] if old.passage_id else None,
                    questions[old.question_id] if old.question_id else None,
                )
                for old in translations.filter(version=self).order_by("pk")
            ),
            batch_size=1000,
        )
        return draft


def _copy_passage_images(passages: list[Any], question_set: QuestionSet) -> None:
    """Copy the images of passages into another question set, and link the passages to them."""
    # Each image is copied once, although several passages may show it.
    images = apps.get_model("annotations", "Image")._default_manager
    originals = images.in_bulk(
        {passage.image_id for passage in passages if passage.image_id is not None}
    )
    copies = {
        key: images.create(
            question_set=question_set,
            **{name: getattr(old, name) for name in COPIED_OF_IMAGES},
        )
        for key, old in originals.items()
    }
    for passage in passages:
        passage.image = copies[passage.image_id] if passage.image_id is not None else None
        passage.brought_by, passage.brought_as = None, ""


def hash_consent_text(text: str) -> str:
    """Return the SHA-256 of a consent text; "" without a text."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""
