"""What a rejected worker wrote back: noted where they have no page here, and answered."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.ledger import appealing
from annotations.ledger.deciding import DecidedMeanwhileError, WithdrawnError
from annotations.models import Appeal
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.problems import ApiProblem, bad_field
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.api.conflicts import conflict
from evaluation.api.paying.desk import (
    VERSION,
    PaySubmissionSerializer,
    decided_meanwhile,
    paid_submission,
    told_of,
)
from evaluation.paying.scope import paid_version


class AppealAnswerSerializer(StrictSerializer):
    """What a worker is answered, and what it does."""

    answer = serializers.CharField(
        max_length=appealing.LONGEST, help_text="Given once, and read by the worker."
    )
    approve = serializers.BooleanField(
        help_text="Approve the submission by it, or leave it rejected."
    )


class AppealNoteSerializer(StrictSerializer):
    """What a worker who came in a file wrote elsewhere."""

    text = serializers.CharField(
        max_length=appealing.LONGEST, help_text="Word for word; kept once for each rejection."
    )


@extend_schema(tags=["paying"])
class AppealViewSet(ApiViewSet):
    """The appeal of a submission: the newest, which people write once for each rejection."""

    queryset = Appeal.objects.all()
    serializer_class = PaySubmissionSerializer

    @extend_schema(
        operation_id="paying_appeal_answer",
        summary="Answer an appeal, once",
        description="The same once more changes nothing. 409 where nobody wrote, somebody answered "
        "otherwise, or the rejection is not what counts any more.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=AppealAnswerSerializer,
        responses={200: PaySubmissionSerializer},
    )
    @repeatable
    def answer(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Keep the answer, and return the submission."""
        version = paid_version(request, set_id)
        about = paid_submission(version, submission_id)
        values: dict[str, Any] = self.checked(AppealAnswerSerializer).validated_data
        appeal = appealing.newest_appeals([about.pk]).get(about.pk)
        if appeal is None:
            raise conflict("nothing_to_answer")
        try:
            appealing.answer(appeal, request.user, values["answer"], approve=values["approve"])
        except WithdrawnError as error:
            said = f"{capfirst(str(error))}: nothing was sent."
            raise ApiProblem("conflict", said, reason=error.code) from None
        except DecidedMeanwhileError as error:
            raise decided_meanwhile(error) from None
        except appealing.AppealError as error:
            if error.code == "answered":
                raise conflict("answered") from None
            said = f"Write 1 to {appealing.LONGEST:,} characters."
            raise bad_field("answer", said, error.code) from None
        return told_of(version, submission_id)

    @extend_schema(
        operation_id="paying_appeal_note",
        summary="Note what a worker wrote elsewhere against their rejection",
        description="For who came in a file and has no page here, once for each rejection. The "
        "same once more changes nothing. 409 where it is not rejected, another text is kept, or "
        "they have a page here.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=AppealNoteSerializer,
        responses={200: PaySubmissionSerializer},
    )
    @repeatable
    def note(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Keep the text, and return the submission."""
        version = paid_version(request, set_id)
        about = paid_submission(version, submission_id)
        values: dict[str, Any] = self.checked(AppealNoteSerializer).validated_data
        try:
            appealing.appeal(about, values["text"], request.user)
        except WithdrawnError as error:
            said = f"{capfirst(str(error))}: nothing was noted."
            raise ApiProblem("conflict", said, reason=error.code) from None
        except appealing.AppealError as error:
            if why := appealing.NOT_NOTED.get(error.code):
                said = f"{why} Nothing was noted."
                raise ApiProblem("conflict", said, reason=error.code) from None
            said = f"Write 1 to {appealing.LONGEST:,} characters."
            raise bad_field("text", said, error.code) from None
        return told_of(version, submission_id)
