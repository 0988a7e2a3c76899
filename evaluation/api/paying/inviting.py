"""Who may be asked again: how many reach a score, why others do not, their ids and groups."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.writing.formats import lines_chunks
from annotations.models import Decision
from annotations.panels.groups import groups_of
from annotations.web.downloads import download, file_name
from annotations.web.query import choice
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.negotiation import AnyForm
from annotations.web.rest.paging import limit_of, slice_body, start_of
from annotations.web.rest.problems import ApiProblem, bad_parameter
from evaluation.api.paying.desk import VERSION
from evaluation.paying.inviting import ENDS, LEFT_OUT, MOST, Invited, Line, invited
from evaluation.paying.rule_errors import RuleError
from evaluation.paying.rules import SCORE
from evaluation.paying.scope import paid_set, paid_version

LINE = [
    VERSION,
    OpenApiParameter(
        "at_least",
        {"type": "number", "minimum": -MOST, "maximum": MOST},
        required=True,
        description="On the scale of the leave-one-out scores of the grading that counts.",
    ),
    OpenApiParameter(
        "end",
        str,
        enum=list(ENDS),
        default=SCORE,
        description="What has to reach it: the score, or the lower end of its 95% interval.",
    ),
    OpenApiParameter(
        "panel", str, description="Whose ids; that of the collecting, or the only one, without it."
    ),
]


class LeftOutSerializer(serializers.Serializer[Any]):
    """How many are not asked again, and why; the first reason that holds counts."""

    why = serializers.ChoiceField(choices=list(LEFT_OUT))
    said = serializers.CharField()
    n = serializers.IntegerField()


class InvitedSerializer(serializers.Serializer[Any]):
    """Who reaches a line now, counted."""

    run = serializers.UUIDField(source="run.public_id", help_text="The grading that counts.")
    panel = serializers.CharField(help_text="Whose ids; empty where files name no panel.")
    at_least = serializers.FloatField(source="line.at_least")
    end = serializers.ChoiceField(choices=list(ENDS), source="line.end")
    people = serializers.IntegerField(source="n_people", help_text="Invited and left out.")
    invited = serializers.IntegerField(help_text="Ids in invited/ids/.")
    left_out = LeftOutSerializer(many=True)


class GroupAskedSerializer(serializers.Serializer[Any]):
    """A group of participants that somebody had the panel make."""

    name = serializers.CharField()
    people = serializers.IntegerField(source="n_people")
    key = serializers.CharField(help_text="The panel's id of it; empty where no answer came.")
    by = serializers.CharField()
    at = serializers.DateTimeField()


@extend_schema(tags=["paying"])
class InvitedViewSet(ApiViewSet):
    """Who of a version scored enough to be asked to the next study. Nothing is stored."""

    queryset = Decision.objects.all()
    serializer_class = InvitedSerializer
    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="paying_invited",
        summary="Count who scored enough to be asked again",
        description="For who may change the set: of those who handed in, did not withdraw and are "
        "not rejected, who has a raw leave-one-out score of at least so much. 409 without a "
        "grading.",
        parameters=LINE,
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the counts."""
        found = self._found(request, set_id)
        left_out = [
            {"why": why, "said": LEFT_OUT[why], "n": n} for why, n in found.left_out.items()
        ]
        told = {
            "run": found.run,
            "panel": found.panel,
            "line": found.line,
            "n_people": found.n_people,
            "invited": len(found.ids),
            "left_out": left_out,
        }
        return Response(InvitedSerializer(told).data)

    @extend_schema(
        operation_id="paying_invited_ids",
        summary="Take away the ids of who scored enough to be asked again",
        description="The panel's ids, one a line, as custom allow lists take them; empty for "
        "nobody. No scores stand in it.",
        parameters=LINE,
        responses={(200, "text/plain"): {"type": "string", "format": "binary"}},
    )
    def ids(self, request: Request, set_id: UUID) -> StreamingHttpResponse:
        """Return the list."""
        found = self._found(request, set_id)
        version = found.run.version
        name = file_name(version.question_set.name, f"version {version.number}", "invite")
        return download(lines_chunks(found.ids), name, "txt")

    @extend_schema(
        operation_id="paying_groups",
        summary="List the groups that a panel was asked to make of these people",
        description="Of all versions of the set, the newest first; not what the panel refused. "
        "Groups are asked for on the command line only.",
        responses=GroupAskedSerializer(many=True),
    )
    def groups(self, request: Request, set_id: UUID) -> Response:
        """Return a page of them."""
        found = groups_of(paid_set(request, set_id))
        start = start_of(request, "groups")
        rows = GroupAskedSerializer(found[start : start + limit_of(request)], many=True).data
        return Response(slice_body(request, "groups", rows, start, len(found)))

    def _found(self, request: Request, set_id: UUID) -> Invited:
        version = paid_version(request, set_id)
        asked = request.query_params
        try:
            least = float(asked.get("at_least", ""))
        except ValueError:
            raise bad_parameter("at_least", "Say which score it takes, such as 0.6.") from None
        line = Line(least, choice(asked, "end", ENDS, SCORE), asked.get("panel", ""))
        try:
            return invited(version, line)
        except RuleError as error:
            said = f"{capfirst(str(error))}."
            if not error.field:
                raise ApiProblem("conflict", said) from None
            raise bad_parameter(error.field, said) from None
