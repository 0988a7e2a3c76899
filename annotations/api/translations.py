"""REST endpoints for the languages and translations of a question set's latest version."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.editing import (
    PublishedError,
    TranslationSheet,
    add_language,
    load_translatable_items,
    lock_draft,
    measure_translation_progress,
    remove_language,
)
from annotations.editing.translation import MOST_PARTS, TranslatableText
from annotations.languages import (
    LONGEST_TAG,
    LanguageError,
    get_english_language_name,
    get_writing_direction,
)
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.models.translations import is_list_field
from annotations.sentences import Sentences
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.problems import ApiProblem, Fault, build_field_problem
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.scope import get_editable

PUBLISHED = "The latest version is published and keeps its words in every language."


class LanguageSerializer(serializers.Serializer[Any]):
    """Language of a version, with its numbers of translated, outdated and all texts."""

    language = serializers.CharField(help_text="As in BCP 47, such as ar.")
    name = serializers.SerializerMethodField(help_text="In English.")
    done = serializers.IntegerField(help_text="Texts that are translated.")
    total = serializers.IntegerField(help_text="Texts that people read.")
    old = serializers.IntegerField(help_text="Of those done, translated before a later change.")

    def get_name(self, progress: Any) -> str:
        """Return the English name of the language."""
        return get_english_language_name(progress.language)


class LanguagesSerializer(serializers.Serializer[Any]):
    """Languages of the latest version; null and empty if the question set has no version."""

    version = serializers.IntegerField(allow_null=True)
    published = serializers.BooleanField()
    original = serializers.CharField(help_text="The language of the texts themselves, if known.")
    languages = LanguageSerializer(many=True)


class NewLanguageSerializer(StrictSerializer):
    """Language tag to add to the draft."""

    language = serializers.CharField(max_length=LONGEST_TAG, help_text="As in BCP 47, such as ar.")


@add_renamed_keys(called="label", said="translation")
class TranslatableTextSerializer(serializers.Serializer[Any]):
    """One text and its translation; both are lists for choices and accepted answers."""

    key = serializers.CharField(help_text="v-, p- or q-, the name of the text, and whose it is.")
    called = serializers.CharField(source="label")
    original = serializers.JSONField()
    said = serializers.JSONField(help_text="Empty where it is not translated.")
    done = serializers.BooleanField(source="is_done")
    old = serializers.BooleanField(source="is_old", help_text="The original was changed since.")
    optional = serializers.BooleanField(source="is_optional")


class TranslationSerializer(serializers.Serializer[Any]):
    """All texts of a version with their translations into one language."""

    version = serializers.IntegerField()
    language = serializers.CharField()
    direction = serializers.CharField(help_text="ltr or rtl.")
    seen = serializers.CharField(help_text="Send it back with a change.")
    texts = TranslatableTextSerializer(many=True)


class NewTranslationsSerializer(StrictSerializer):
    """Translations to store, and the hash `seen` of the state that the client had read."""

    seen = serializers.CharField(max_length=64, help_text="As it was read.")
    texts = serializers.DictField(
        child=serializers.JSONField(),
        allow_empty=False,
        help_text='By key: a text, or for choices and right answers a list of texts. "" or an '
        "empty list takes a translation away.",
    )


@extend_schema(tags=["questions"])
class TranslationViewSet(ApiViewSet):
    """API endpoints for the further languages of the latest version, for editors of the set."""

    queryset = QuestionSet.objects.all()
    serializer_class = TranslationSerializer

    @extend_schema(
        operation_id="translations_list",
        summary="List the languages of the latest version and how far each is",
        responses=LanguagesSerializer,
    )
    def list_languages(self, request: Request, set_id: UUID) -> Response:
        """List the languages of the latest version with the progress of their translation."""
        return Response(_serialize_languages(self._load_set(set_id).latest_version()))

    @extend_schema(
        operation_id="translations_add",
        summary="Add a language to the draft",
        description="Publishing then waits until every text is translated. 409 while the latest "
        "version is published.",
        request=NewLanguageSerializer,
        responses={201: LanguagesSerializer},
    )
    def add(self, request: Request, set_id: UUID) -> Response:
        """Add a language to the draft."""
        question_set = self._load_set(set_id)
        tag = self.validate_body(NewLanguageSerializer).validated_data["language"]
        try:
            with lock_draft(question_set) as draft:
                add_language(draft, tag)
        except PublishedError:
            raise _build_published_problem() from None
        except LanguageError as error:
            raise build_field_problem("language", f"{capfirst(str(error))}.", error.code) from None
        return Response(_serialize_languages(draft), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="translations_read",
        summary="Read all texts with their translations into a language",
    )
    def retrieve(self, request: Request, set_id: UUID, language: str) -> Response:
        """Return all texts of the latest version with their translations into a language."""
        version = _require_language(self._load_set(set_id).latest_version(), language)
        return Response(
            _serialize_translation(
                TranslationSheet(version, language, load_translatable_items(version))
            )
        )

    @extend_schema(
        operation_id="translations_store",
        summary="Store texts of the draft in a language",
        description="The keys that are sent; the others stay. All are stored or none is. 409 if "
        "another user translated since `seen`, and while the latest version is published.",
        request=NewTranslationsSerializer,
        responses=TranslationSerializer,
        examples=[
            OpenApiExample(
                "A question and its choices",
                value={
                    "seen": "0f3a9c5d2b7e8146",
                    "texts": {"q-text-q1": "Wo steigt sie?", "q-choices-q1": ["Wales", "Kent"]},
                },
                request_only=True,
            )
        ],
    )
    def partial_update(self, request: Request, set_id: UUID, language: str) -> Response:
        """Store the translations in the request body: all or none."""
        question_set = self._load_set(set_id)
        values = self.validate_body(NewTranslationsSerializer).validated_data
        try:
            with lock_draft(question_set) as draft:
                sheet = TranslationSheet(
                    _require_language(draft, language), language, load_translatable_items(draft)
                )
                if values["seen"] != sheet.seen:
                    raise ApiProblem(
                        "conflict",
                        "Another user has changed the translation; nothing was stored. Read it "
                        "again.",
                        [Fault("It is another state by now.", pointer="#/seen")],
                        reason="changed_meanwhile",
                    )
                sheet.store_translations(_check_texts(sheet, values["texts"]))
                # A new sheet: storing has changed the texts and their hash `seen`.
                return Response(
                    _serialize_translation(
                        TranslationSheet(draft, language, load_translatable_items(draft))
                    )
                )
        except PublishedError:
            raise _build_published_problem() from None

    @extend_schema(
        operation_id="translations_remove",
        summary="Remove a language from the draft, with all its translations",
        description="409 while the latest version is published.",
        responses={204: OpenApiResponse(description="It is gone.")},
    )
    def destroy(self, request: Request, set_id: UUID, language: str) -> Response:
        """Remove a language from the draft, with all its translations."""
        question_set = self._load_set(set_id)
        _require_language(question_set.latest_version(), language)
        try:
            with lock_draft(question_set) as draft:
                remove_language(_require_language(draft, language), language)
        except PublishedError:
            raise _build_published_problem() from None
        return Response(status=status.HTTP_204_NO_CONTENT)

    def get_max_bytes(self, request: Request) -> int:
        """Return the largest permitted request in bytes, enough for all texts of a version."""
        return 8 * 1024**2

    def _load_set(self, set_id: UUID) -> QuestionSet:
        """Return a question set that the user may change; raise Http404 or 403 otherwise."""
        return get_editable(self.request, QuestionSet.objects.all(), set_id)


def _require_language(version: QuestionSetVersion | None, language: str) -> QuestionSetVersion:
    """Return `version` if it has the language; raise Http404 otherwise."""
    if version is None or language not in version.languages:
        raise Http404
    return version


def _serialize_languages(version: QuestionSetVersion | None) -> Any:
    """Return the languages of a version with their progress as JSON data."""
    body = {
        "version": version and version.number,
        "published": version is not None and version.is_published,
        "original": version.text_language if version is not None else "",
        "languages": measure_translation_progress(version) if version is not None else [],
    }
    return LanguagesSerializer(body).data


def _serialize_translation(sheet: TranslationSheet) -> Any:
    """Return all texts of a version and their translations into one language as JSON data."""
    body = {
        "version": sheet.version.number,
        "language": sheet.language,
        "direction": get_writing_direction(sheet.language),
        "seen": sheet.seen,
        "texts": sheet.pieces,
    }
    return TranslationSerializer(body).data


def _check_texts(sheet: TranslationSheet, texts: dict[str, Any]) -> dict[TranslatableText, Any]:
    """Return the valid translations by their text; raise `ApiProblem` with all invalid ones."""
    pieces = {piece.key: piece for piece in sheet.pieces}
    faults: list[Fault] = []
    valid: dict[TranslatableText, Any] = {}
    for key, value in texts.items():
        piece = pieces.get(key)
        code, reason = _find_text_error(piece, value)
        if code:
            # Escaped as RFC 6901 requires.
            pointer = f"#/texts/{key.replace('~', '~0').replace('/', '~1')}"
            faults.append(Fault(f"{capfirst(reason)}.", pointer=pointer, code=code))
        elif piece is not None:
            valid[piece] = _clean_text(value)
    if faults:
        raise ApiProblem("invalid", f"{len(faults)} texts will not do; nothing was stored.", faults)
    return valid


TEXTS = Sentences(
    {
        "unknown_text": "there is no such text in this version",
        "not_a_text": "this is a text",
        "not_a_list": "this is a list of texts",
        "too_many_parts": "it has {n:,} parts, more than {most}",
    }
)
"""Why a text of a version cannot be stored."""


def _find_text_error(piece: TranslatableText | None, value: Any) -> tuple[str, str]:
    """Return (code, reason) why a translation cannot be stored; both are "" if it can be."""
    code, values = "", {}
    if piece is None:
        code = "unknown_text"
    elif not is_list_field(piece.name):
        code = "" if isinstance(value, str) else "not_a_text"
    elif not isinstance(value, list) or not all(_is_text_entry(piece.name, part) for part in value):
        code = "not_a_list"
    elif len(value) > MOST_PARTS:
        code, values = "too_many_parts", {"n": len(value), "most": MOST_PARTS}
    if code or piece is None:
        return code, TEXTS.text(code, **values)
    text = value if isinstance(value, str) else "\n".join(_flatten_texts(value))
    too_long = piece.find_length_error(text)
    return ("too_long" if too_long else ""), too_long


def _is_text_entry(name: str, value: Any) -> bool:
    """Return whether a value is a text; for accepted answers, also a list of texts."""
    if isinstance(value, list) and name != "choices":
        return bool(value) and all(isinstance(text, str) and text.strip() for text in value)
    return isinstance(value, str) and bool(value.strip())


def _flatten_texts(value: list[Any]) -> list[str]:
    """Return all texts in a list, including those in nested lists."""
    return [text for part in value for text in (part if isinstance(part, list) else [part])]


def _clean_text(value: Any) -> Any:
    """Return a text or list of texts, stripped, with LF line ends and without NUL characters."""
    if isinstance(value, list):
        return [_clean_text(part) for part in value]
    return value.replace("\r\n", "\n").replace("\x00", "").strip()


def _build_published_problem() -> ApiProblem:
    """Return the API problem (409) that a published version cannot be translated."""
    return ApiProblem("conflict", PUBLISHED, reason="published")
