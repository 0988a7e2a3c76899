"""The pictures of passages: sent, read, taken away."""

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
from annotations.editing import attach_image, drop_image
from annotations.exchange.importing.target import locked
from annotations.exchange.problems import InputError
from annotations.exchange.reading.images import LARGEST_IMAGE, MEDIA_TYPES, CheckedImage, read_image
from annotations.exchange.reading.questions import LONGEST_BESIDE
from annotations.models import Image, Passage, QuestionSet
from annotations.web.images import image_response
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.negotiation import AnyForm
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.scope import editable, visible_or_404

BESIDE = 64 * 1024
"""Bytes of a form beside its picture: its other field, and what parts the two."""


class PictureSerializer(StrictSerializer):
    """A picture, and what it shows in words."""

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
    """The picture of a passage of a draft."""

    queryset = Passage.objects.all()
    serializer_class = PassageSerializer
    parser_classes = (MultiPartParser,)

    @property
    def throttle_scope(self) -> str | None:
        """They count as uploads, for reading them costs more than other requests."""
        return "bulk" if self.request.method == "PUT" else None

    def most_bytes(self, request: Request) -> int:
        """Return how large a form with a picture may be."""
        return LARGEST_IMAGE + BESIDE

    @extend_schema(
        operation_id="passages_picture_send",
        summary="Give a passage of a draft its picture",
        description="As a form (`multipart/form-data`) with the words for those who do not see it. "
        "The one it had goes; the same again changes nothing. 409 once its version is published.",
        request={"multipart/form-data": PictureSerializer},
        responses=PassageSerializer,
    )
    def put(self, request: Request, set_id: UUID, passage_id: UUID) -> Response:
        """Check the picture and attach it."""
        # Before the form is read: who may not change the passage learns nothing else.
        self._passage(set_id, passage_id)
        values = self.checked(PictureSerializer).validated_data
        checked = _read(values["picture"])
        with transaction.atomic():
            passage = self._draft(set_id, passage_id)
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
        """Take it away."""
        with transaction.atomic():
            drop_image(self._draft(set_id, passage_id))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _passage(self, set_id: UUID, passage_id: UUID) -> Passage:
        question_set = editable(self.request, QuestionSet.objects.all(), set_id)
        rows = Passage.objects.filter(version__question_set=question_set)
        return editable(self.request, rows.select_related("version__question_set"), passage_id)

    def _draft(self, set_id: UUID, passage_id: UUID) -> Passage:
        """Return the passage, which can be changed until the end of the transaction."""
        locked(self._passage(set_id, passage_id).version.question_set)
        passage = self._passage(set_id, passage_id)  # as it is now
        if passage.version.is_published:
            raise ApiProblem(
                "conflict",
                f"Version {passage.version.number} is published and keeps its pictures; a change "
                "in the editor opens the next version.",
            )
        return passage


class ImageViewSet(ApiViewSet):
    """Pictures as they are shown; a passage names its own as `image`."""

    queryset = Image.objects.all()
    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="images_read",
        summary="Read the picture of a passage",
        tags=["questions"],
        responses={
            (200, kind): {"type": "string", "format": "binary"} for kind in MEDIA_TYPES.values()
        },
    )
    def retrieve(self, request: Request, set_id: UUID, image_id: UUID) -> HttpResponse:
        """Return its bytes."""
        question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
        rows = Image.objects.filter(question_set=question_set)
        return image_response(visible_or_404(request, rows, image_id))


def _read(file: UploadedFile[Any]) -> CheckedImage:
    name = (file.name or "picture")[:100]
    try:
        return read_image(file.read(), name)
    except InputError as error:
        faults = [
            Fault(f"{capfirst(one.reason)}.", pointer="#/picture", remedy=one.remedy, code=one.code)
            for one in error.problems
        ]
        raise ApiProblem("invalid", f"picture: {faults[0].detail}", faults) from error
