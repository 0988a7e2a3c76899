"""The texts of a question set in its further languages: which there are, read, stored."""

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
    Sheet,
    add_language,
    draft_of,
    progress,
    remove_language,
    rows_of,
)
from annotations.editing.translating import MOST_PARTS, Piece
from annotations.languages import LONGEST_TAG, LanguageError, direction, name_of
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.models.translations import is_list
from annotations.sentences import Sentences
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.problems import ApiProblem, Fault, bad_field
from annotations.web.scope import editable

PUBLISHED = "The latest version is published and keeps its words in every language."


class LanguageSerializer(serializers.Serializer[Any]):
    """How far a translation is."""

    language = serializers.CharField(help_text="As in BCP 47, such as ar.")
    name = serializers.SerializerMethodField(help_text="In English.")
    done = serializers.IntegerField(help_text="Texts that are translated.")
    total = serializers.IntegerField(help_text="Texts that people read.")
    old = serializers.IntegerField(help_text="Of those done, translated before a later change.")

    def get_name(self, one: Any) -> str:
        """What the language is called."""
        return name_of(one.language)


class LanguagesSerializer(serializers.Serializer[Any]):
    """The languages of the latest version; null and empty before there is one."""

    version = serializers.IntegerField(allow_null=True)
    published = serializers.BooleanField()
    original = serializers.CharField(help_text="The language of the texts themselves, if known.")
    languages = LanguageSerializer(many=True)


class NewLanguageSerializer(StrictSerializer):
    """A language to add."""

    language = serializers.CharField(max_length=LONGEST_TAG, help_text="As in BCP 47, such as ar.")


class PieceSerializer(serializers.Serializer[Any]):
    """A text beside what it is in the language; both are lists for choices and right answers."""

    key = serializers.CharField(help_text="v-, p- or q-, the name of the text, and whose it is.")
    called = serializers.CharField(source="label")
    original = serializers.JSONField()
    said = serializers.JSONField(help_text="Empty where it is not translated.")
    done = serializers.BooleanField(source="is_done")
    old = serializers.BooleanField(source="is_old", help_text="The original was changed since.")
    optional = serializers.BooleanField(source="is_optional")


class TranslationSerializer(serializers.Serializer[Any]):
    """All texts of a version in one language."""

    version = serializers.IntegerField()
    language = serializers.CharField()
    direction = serializers.CharField(help_text="ltr or rtl.")
    seen = serializers.CharField(help_text="Send it back with a change.")
    texts = PieceSerializer(many=True)


class TranslatedSerializer(StrictSerializer):
    """Texts to store, and which state of the language they were made from."""

    seen = serializers.CharField(max_length=64, help_text="As it was read.")
    texts = serializers.DictField(
        child=serializers.JSONField(),
        allow_empty=False,
        help_text='By key: a text, or for choices and right answers a list of texts. "" or an '
        "empty list takes a translation away.",
    )


@extend_schema(tags=["questions"])
class TranslationViewSet(ApiViewSet):
    """The further languages of the latest version of a set, for who may change the set."""

    queryset = QuestionSet.objects.all()
    serializer_class = TranslationSerializer

    @extend_schema(
        operation_id="translations_list",
        summary="List the languages of the latest version and how far each is",
        responses=LanguagesSerializer,
    )
    def languages(self, request: Request, set_id: UUID) -> Response:
        """List them."""
        return Response(_languages(self._set(set_id).latest_version()))

    @extend_schema(
        operation_id="translations_add",
        summary="Add a language to the draft",
        description="Publishing then waits until every text is translated. 409 while the latest "
        "version is published.",
        request=NewLanguageSerializer,
        responses={201: LanguagesSerializer},
    )
    def add(self, request: Request, set_id: UUID) -> Response:
        """Add it."""
        question_set = self._set(set_id)
        tag = self.checked(NewLanguageSerializer).validated_data["language"]
        try:
            with draft_of(question_set) as draft:
                add_language(draft, tag)
        except PublishedError:
            raise _published() from None
        except LanguageError as error:
            raise bad_field("language", f"{capfirst(str(error))}.", error.code) from None
        return Response(_languages(draft), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="translations_read",
        summary="Read all texts beside what they are in a language",
    )
    def retrieve(self, request: Request, set_id: UUID, language: str) -> Response:
        """Read them."""
        version = _having(self._set(set_id).latest_version(), language)
        return Response(_translation(Sheet(version, language, rows_of(version))))

    @extend_schema(
        operation_id="translations_store",
        summary="Store texts of the draft in a language",
        description="The keys that are sent; the others stay. All are stored or none is. 409 where "
        "somebody else translated since `seen`, and while the latest version is published.",
        request=TranslatedSerializer,
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
        """Store them."""
        question_set = self._set(set_id)
        values = self.checked(TranslatedSerializer).validated_data
        try:
            with draft_of(question_set) as draft:
                sheet = Sheet(_having(draft, language), language, rows_of(draft))
                if values["seen"] != sheet.seen:
                    raise ApiProblem(
                        "conflict",
                        "Somebody else translated meanwhile; nothing was stored. Read it again.",
                        [Fault("It is another state by now.", pointer="#/seen")],
                        reason="changed_meanwhile",
                    )
                sheet.store(_checked(sheet, values["texts"]))
                return Response(_translation(Sheet(draft, language, rows_of(draft))))
        except PublishedError:
            raise _published() from None

    @extend_schema(
        operation_id="translations_remove",
        summary="Take a language away from the draft, with all that is said in it",
        description="409 while the latest version is published.",
        responses={204: OpenApiResponse(description="It is gone.")},
    )
    def destroy(self, request: Request, set_id: UUID, language: str) -> Response:
        """Take it away."""
        question_set = self._set(set_id)
        _having(question_set.latest_version(), language)
        try:
            with draft_of(question_set) as draft:
                remove_language(_having(draft, language), language)
        except PublishedError:
            raise _published() from None
        return Response(status=status.HTTP_204_NO_CONTENT)

    def most_bytes(self, request: Request) -> int:
        """A request may bring all texts of a version."""
        return 8 * 1024**2

    def _set(self, set_id: UUID) -> QuestionSet:
        return editable(self.request, QuestionSet.objects.all(), set_id)


def _having(version: QuestionSetVersion | None, language: str) -> QuestionSetVersion:
    if version is None or language not in version.languages:
        raise Http404
    return version


def _languages(version: QuestionSetVersion | None) -> Any:
    told = {
        "version": version and version.number,
        "published": version is not None and version.is_published,
        "original": version.spoken if version is not None else "",
        "languages": progress(version) if version is not None else [],
    }
    return LanguagesSerializer(told).data


def _translation(sheet: Sheet) -> Any:
    told = {
        "version": sheet.version.number,
        "language": sheet.language,
        "direction": direction(sheet.language),
        "seen": sheet.seen,
        "texts": sheet.pieces,
    }
    return TranslationSerializer(told).data


def _checked(sheet: Sheet, texts: dict[str, Any]) -> dict[Piece, Any]:
    """Return what to store, by pieces; ApiProblem names every text that will not do."""
    pieces = {piece.key: piece for piece in sheet.pieces}
    faults: list[Fault] = []
    found: dict[Piece, Any] = {}
    for key, value in texts.items():
        piece = pieces.get(key)
        code, reason = _why_not(piece, value)
        if code:
            pointer = f"#/texts/{key.replace('~', '~0').replace('/', '~1')}"
            faults.append(Fault(f"{capfirst(reason)}.", pointer=pointer, code=code))
        elif piece is not None:
            found[piece] = _tidied(value)
    if faults:
        raise ApiProblem("invalid", f"{len(faults)} texts will not do; nothing was stored.", faults)
    return found


TEXTS = Sentences(
    {
        "unknown_text": "there is no such text in this version",
        "not_a_text": "this is a text",
        "not_a_list": "this is a list of texts",
        "too_many_parts": "it has {n:,} parts, more than {most}",
    }
)
"""Why a text of a version cannot be stored."""


def _why_not(piece: Piece | None, value: Any) -> tuple[str, str]:
    """Return the code and the sentence of why a value cannot be stored as what a piece says.

    Both are "" if it can.
    """
    code, values = "", {}
    if piece is None:
        code = "unknown_text"
    elif not is_list(piece.name):
        code = "" if isinstance(value, str) else "not_a_text"
    elif not isinstance(value, list) or not all(_is_part(piece.name, one) for one in value):
        code = "not_a_list"
    elif len(value) > MOST_PARTS:
        code, values = "too_many_parts", {"n": len(value), "most": MOST_PARTS}
    if code or piece is None:
        return code, TEXTS.text(code, **values)
    text = value if isinstance(value, str) else "\n".join(_texts(value))
    too_long = piece.why_too_long(text)
    return ("too_long" if too_long else ""), too_long


def _is_part(name: str, value: Any) -> bool:
    """Return whether a value is a text, or of right answers several ways to write the same."""
    if isinstance(value, list) and name != "choices":
        return bool(value) and all(isinstance(one, str) and one.strip() for one in value)
    return isinstance(value, str) and bool(value.strip())


def _texts(value: list[Any]) -> list[str]:
    return [text for one in value for text in (one if isinstance(one, list) else [one])]


def _tidied(value: Any) -> Any:
    if isinstance(value, list):
        return [_tidied(one) for one in value]
    return value.replace("\r\n", "\n").replace("\x00", "").strip()


def _published() -> ApiProblem:
    return ApiProblem("conflict", PUBLISHED, reason="published")
