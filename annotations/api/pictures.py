"""REST endpoints for the image of a passage: upload, read and delete."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.api.passages import PassageSerializer
from annotations.editing import attach_image, remove_image
from annotations.exchange.importing.target import lock_question_set
from annotations.exchange.problems import InputError
from annotations.exchange.reading.images import (
    LARGEST_IMAGE,
    MEDIA_TYPES,
    SECONDS_TO_RETRY,
    CheckedImage,
    PicturesBusyError,
    reencode_image,
)
from annotations.exchange.reading.questions import LONGEST_BESIDE
from annotations.models import Image, Passage, QuestionSet
from annotations.web.images import build_image_response
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.negotiation import FileNegotiation
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.scope import get_editable, get_user_id, get_visible_or_404

FORM_OVERHEAD = 64 * 1024
"""Most bytes of a form besides its picture: the other field and the multipart boundaries."""


class PictureSerializer(StrictSerializer):
    """Uploaded image file of a passage, and its alternative text."""

    picture = serializers.FileField(
        help_text=f"PNG, JPEG or WebP of at most {LARGEST_IMAGE // 1024**2} MB and 40 million "
        "pixels that does not move. It is written anew: at most 1600 pixels wide and high, "
        "without where and by what it was taken."
    )
    image_alt = serializers.CharField(
        max_length=LONGEST_BESIDE,
        help_text="For those who do not see it: what one has to know of it to answer.",
    )


@extend_schema(tags=["questions"])
class PictureViewSet(ApiViewSet):
    """API endpoints that upload and delete the image of a passage in a draft."""

    queryset = Passage.objects.all()
    serializer_class = PassageSerializer
    parser_classes = (MultiPartParser,)

    @property
    def throttle_scope(self) -> str | None:
        """Name of the rate limit for uploads, as decoding an image is costly; else None."""
        return "bulk" if self.request.method == "PUT" else None

    def get_max_bytes(self, request: Request) -> int:
        """Return the largest permitted size in bytes of an upload form with an image."""
        return LARGEST_IMAGE + FORM_OVERHEAD

    @extend_schema(
        operation_id="passages_picture_send",
        summary="Give a passage of a draft its picture",
        description="As a form (`multipart/form-data`) with the words for those who do not see it. "
        "The one it had goes; the same again changes nothing. 409 once its version is published.",
        request={"multipart/form-data": PictureSerializer},
        responses=PassageSerializer,
    )
    def put(self, request: Request, set_id: UUID, passage_id: UUID) -> Response:
        """Check an uploaded image and attach it to the passage; replace an earlier one."""
        # Rights first: the form's errors must not disclose anything to others.
        self._load_passage(set_id, passage_id)
        values = self.validate_body(PictureSerializer).validated_data
        # Before the transaction: decoding may wait, and SQLite has only one writer.
        checked = _read_image(values["picture"], get_user_id(request))
        with transaction.atomic():
            passage = self._load_draft_passage(set_id, passage_id)
            attach_image(passage, checked)
            passage.image_alt = values["image_alt"]
            passage.save(update_fields=["image_alt"])
        return Response(self.get_serializer(passage).data)

    @extend_schema(
        operation_id="passages_picture_delete",
        summary="Take the picture of a passage of a draft away",
        description="Its words stay. 409 once its version is published.",
        responses={204: OpenApiResponse(description="There is none any more.")},
    )
    def delete(self, request: Request, set_id: UUID, passage_id: UUID) -> Response:
        """Remove the image of the passage; its alternative text stays."""
        with transaction.atomic():
            remove_image(self._load_draft_passage(set_id, passage_id))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _load_passage(self, set_id: UUID, passage_id: UUID) -> Passage:
        """Return a passage that the user may change; raise Http404 or 403 otherwise."""
        question_set = get_editable(self.request, QuestionSet.objects.all(), set_id)
        rows = Passage.objects.filter(version__question_set=question_set)
        return get_editable(self.request, rows.select_related("version__question_set"), passage_id)

    def _load_draft_passage(self, set_id: UUID, passage_id: UUID) -> Passage:
        """Lock the question set and return the passage; raise a 409 if its version is published."""
        lock_question_set(self._load_passage(set_id, passage_id).version.question_set)
        # Again: another request may have changed the row before the lock.
        passage = self._load_passage(set_id, passage_id)
        if passage.version.is_published:
            raise ApiProblem(
                "conflict",
                f"Version {passage.version.number} is published and keeps its pictures; a change "
                "in the editor opens the next version.",
            )
        return passage


class ImageViewSet(ApiViewSet):
    """API endpoint that serves the image files of passages."""

    queryset = Image.objects.all()
    content_negotiation_class = FileNegotiation

    @extend_schema(
        operation_id="images_read",
        summary="Read the picture of a passage",
        tags=["questions"],
        responses={
            (200, kind): {"type": "string", "format": "binary"} for kind in MEDIA_TYPES.values()
        },
    )
    def retrieve(self, request: Request, set_id: UUID, image_id: UUID) -> HttpResponse:
        """Return the bytes of an image of the question set."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        rows = Image.objects.filter(question_set=question_set)
        return build_image_response(get_visible_or_404(request, rows, image_id))


def _read_image(file: UploadedFile[Any], sender: int) -> CheckedImage:
    """Return the checked image of an upload; raise `ApiProblem` if it cannot be read.

    `sender` is the user's id: few images of one user may wait for decoding at a time.
    """
    name = (file.name or "picture")[:100]
    try:
        return reencode_image(file.read(), name, sender)
    except InputError as error:
        faults = [
            Fault(
                f"{capfirst(problem.reason)}.",
                pointer="#/picture",
                remedy=problem.remedy,
                code=problem.code,
            )
            for problem in error.problems
        ]
        detail = f"picture: {faults[0].detail}"
        if isinstance(error, PicturesBusyError):
            headers = {"Retry-After": str(SECONDS_TO_RETRY)}
            raise ApiProblem("busy", detail, faults, headers) from error
        raise ApiProblem("invalid", detail, faults) from error
