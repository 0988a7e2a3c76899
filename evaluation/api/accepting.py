"""Accepting everybody of whom nobody decided by one request, and taking it back by one."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import rights
from annotations.web.query import choice, flag
from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.serializers import serializer_of
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import RefusedError
from evaluation.api.conflicts import conflict
from evaluation.api.done import DoneRunViewSet
from evaluation.api.triage import QueueRowSerializer
from evaluation.background.accepting import (
    MovedMeanwhileError,
    NobodyLeftError,
    accept_rest,
    take_back_accepted,
)
from evaluation.models import Run, WorkerVerdict
from evaluation.options import API
from evaluation.reports.triage.rest import Rest, Who, rest_of
from evaluation.triaging import NothingToTakeBackError, TakenBack, Together, accepted_together

WHO = ("everybody", "look")
OF_WHOM = "Of everybody in the run, or of those who are worth looking at."
ALARMS = "Whether those are accepted, too, whom an alarm or a notice names."
TogetherSerializer = serializer_of(Together)


class RestSerializer(serializers.Serializer[Any]):
    """Whom one request would accept, who stays open, and what was accepted so before."""

    n = serializers.IntegerField(help_text="People who would be accepted.")
    n_left_out = serializers.IntegerField(
        help_text="Who stays open because an alarm or a notice names them."
    )
    n_again = serializers.IntegerField(help_text="Who stays open to be looked at again.")
    n_decided = serializers.IntegerField(help_text="Who is accepted or excluded already.")
    said = serializers.CharField(help_text="The same in a sentence.")
    seen = serializers.CharField(help_text="Stands for exactly these people; send it back.")
    left_out = QueueRowSerializer(many=True, help_text="The first 50 who stay open.")
    accepted = TogetherSerializer(many=True)


class AcceptRestSerializer(StrictSerializer):
    """Whom to accept, as they were shown."""

    who = serializers.ChoiceField(choices=WHO, default="everybody", help_text=OF_WHOM)
    alarms = serializers.BooleanField(default=False, help_text=ALARMS)
    seen = serializers.CharField(
        max_length=64, help_text="`seen` of the answer to GET; 409 where it is others by now."
    )


@extend_schema(tags=["results"])
class AcceptingViewSet(DoneRunViewSet):
    """Accepting who is left; nothing is paid or graded by it."""

    pagination_class = None  # type: ignore[assignment]

    @extend_schema(
        operation_id="results_triage_rest",
        summary="Read whom one request would accept, and who would stay open",
        parameters=[
            OpenApiParameter("who", str, enum=list(WHO), default="everybody", description=OF_WHOM),
            OpenApiParameter("alarms", bool, default=False, description=ALARMS),
        ],
        responses=RestSerializer,
    )
    def rest(self, request: Request, run_id: Any) -> Response:
        """Return them, and what was accepted at once before."""
        run = self.done(request, run_id)
        who = cast(Who, choice(request.query_params, "who", WHO, "everybody"))
        rest = rest_of(run, who, with_alarms=flag(request.query_params, "alarms"))
        return Response(_body(rest))

    @extend_schema(
        operation_id="results_triage_accept",
        summary="Accept everybody else",
        description="The same people once more by the same account change nothing.",
        parameters=[IDEMPOTENCY_KEY],
        request=AcceptRestSerializer,
        responses={201: TogetherSerializer},
    )
    @repeatable
    def accept(self, request: Request, run_id: Any) -> Response:
        """Accept them, and return the id by which it is taken back."""
        run = self._editable(request, run_id)
        asked = self.checked(AcceptRestSerializer).validated_data
        try:
            done = accept_rest(
                run, request.user, asked["seen"], asked["who"], with_alarms=asked["alarms"]
            )
        except NobodyLeftError:
            raise conflict("nobody_left") from None
        except MovedMeanwhileError as error:
            raise conflict("people_changed", {"newest": error.rest.seen}) from None
        return Response(TogetherSerializer(done).data, status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="results_triage_accept_undo",
        summary="Take back what one request accepted",
        description="What was decided of somebody since counts on. 409 where nothing is left.",
        request=None,
        responses=serializer_of(TakenBack),
    )
    def take_back(self, request: Request, run_id: Any, together: UUID) -> Response:
        """Take it back, and say of how many."""
        run = self._editable(request, run_id)
        try:
            back = take_back_accepted(run, request.user, together)
        except WorkerVerdict.DoesNotExist:
            raise Http404("nothing of that id was accepted in the run") from None
        except NothingToTakeBackError:
            raise conflict("nothing_to_take_back") from None
        return Response(serializer_of(TakenBack)(back).data)

    def _editable(self, request: Request, run_id: Any) -> Run:
        run = self.done(request, run_id)
        if not rights(request.user, run.version.question_set).edit:
            raise RefusedError("change")
        return run


def _body(rest: Rest) -> dict[str, Any]:
    return {
        "n": rest.n,
        "n_left_out": rest.n_left_out,
        "n_again": len(rest.again),
        "n_decided": rest.n_decided,
        "said": API.said(rest.said),
        "seen": rest.seen,
        "left_out": QueueRowSerializer(rest.left_rows, many=True).data,
        "accepted": TogetherSerializer(accepted_together(rest.run), many=True).data,
    }
