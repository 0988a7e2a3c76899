"""REST API: workers to invite again: their number, the reasons of the others, ids and groups."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.writing.formats import write_lines
from annotations.models import Decision
from annotations.panels.groups import load_groups
from annotations.web.downloads import build_file_name, download
from annotations.web.query import parse_choice
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.negotiation import AnyForm
from annotations.web.rest.paging import build_slice_body, read_limit, read_start
from annotations.web.rest.problems import ApiProblem, build_parameter_problem
from annotations.web.rest.renamed_keys import rename_keys
from evaluation.payments.api.decisions import VERSION
from evaluation.payments.storage.invitations import (
    ENDS,
    LEFT_OUT,
    MOST,
    Invited,
    ScoreThreshold,
    select_invited,
)
from evaluation.payments.storage.rules import SCORE, RuleError
from evaluation.payments.storage.scope import get_payable_set, get_payable_version
from evaluation.runs.raw_scores import RAW, SCORES

THRESHOLD = [
    VERSION,
    OpenApiParameter(
        "at_least",
        {"type": "number", "minimum": -MOST, "maximum": MOST},
        required=True,
        description="On the scale of the scores of the grading that counts.",
    ),
    OpenApiParameter(
        "end",
        str,
        enum=list(ENDS),
        default=SCORE,
        description="What has to reach it: the score, or the lower end of its 95% interval.",
    ),
    OpenApiParameter(
        "score",
        str,
        enum=list(SCORES),
        default=RAW,
        description="Compare by raw leave-one-out score or by question contrast.",
    ),
    OpenApiParameter(
        "panel", str, description="Whose ids; that of the collecting, or the only one, without it."
    ),
]


@rename_keys(said="message")
class LeftOutSerializer(serializers.Serializer[Any]):
    """Number of workers not invited again for one reason.

    A worker counts at the first that applies.
    """

    why = serializers.ChoiceField(choices=list(LEFT_OUT))
    said = serializers.CharField()
    n = serializers.IntegerField()


class InvitedSerializer(serializers.Serializer[Any]):
    """Numbers of workers who reach a score threshold, and of those left out."""

    run = serializers.UUIDField(source="run.public_id", help_text="The grading that counts.")
    panel = serializers.CharField(help_text="Whose ids; empty where files name no panel.")
    at_least = serializers.FloatField(source="line.at_least")
    end = serializers.ChoiceField(choices=list(ENDS), source="line.end")
    score = serializers.ChoiceField(choices=list(SCORES), source="line.score")
    people = serializers.IntegerField(source="n_people", help_text="Invited and left out.")
    invited = serializers.IntegerField(help_text="Ids in invited/ids/.")
    left_out = LeftOutSerializer(many=True)


@rename_keys(at="requested_at")
class GroupAskedSerializer(serializers.Serializer[Any]):
    """Participant group that was created on the panel, with the user who requested it."""

    name = serializers.CharField()
    people = serializers.IntegerField(source="n_people")
    key = serializers.CharField(help_text="The panel's id of it; empty where no answer came.")
    by = serializers.CharField()
    at = serializers.DateTimeField()


@extend_schema(tags=["paying"])
class InvitedViewSet(ApiViewSet):
    """Workers of a version with scores high enough for the next study; stores nothing."""

    queryset = Decision.objects.all()
    serializer_class = InvitedSerializer
    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="paying_invited",
        summary="Count who scored enough to be asked again",
        description="For who may change the set: of those who handed in, did not withdraw and are "
        "not rejected, who has a raw leave-one-out score, or a question contrast, of at least "
        "so much. 409 without a grading.",
        parameters=THRESHOLD,
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the numbers of workers to invite and to leave out."""
        invited_workers = self._select_invited(request, set_id)
        left_out = [
            {"why": reason, "said": LEFT_OUT[reason], "n": n}
            for reason, n in invited_workers.left_out.items()
        ]
        body = {
            "run": invited_workers.run,
            "panel": invited_workers.panel,
            "line": invited_workers.line,
            "n_people": invited_workers.n_people,
            "invited": len(invited_workers.ids),
            "left_out": left_out,
        }
        return Response(InvitedSerializer(body).data)

    @extend_schema(
        operation_id="paying_invited_ids",
        summary="Take away the ids of who scored enough to be asked again",
        description="The panel's ids, one a line, as custom allow lists take them; empty for "
        "nobody. No scores stand in it.",
        parameters=THRESHOLD,
        responses={(200, "text/plain"): {"type": "string", "format": "binary"}},
    )
    def ids(self, request: Request, set_id: UUID) -> StreamingHttpResponse:
        """Send the list of the invited workers' panel ids."""
        invited_workers = self._select_invited(request, set_id)
        version = invited_workers.run.version
        name = build_file_name(version.question_set.name, f"version {version.number}", "invite")
        return download(write_lines(invited_workers.ids), name, "txt")

    @extend_schema(
        operation_id="paying_groups",
        summary="List the groups that a panel was asked to make of these people",
        description="Of all versions of the set, the newest first; not what the panel refused. "
        "Groups are asked for on the command line only.",
        responses=GroupAskedSerializer(many=True),
    )
    def groups(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the participant groups created on the panel."""
        groups = load_groups(get_payable_set(request, set_id))
        start = read_start(request, "groups")
        rows = GroupAskedSerializer(groups[start : start + read_limit(request)], many=True).data
        return Response(build_slice_body(request, "groups", rows, start, len(groups)))

    def _select_invited(self, request: Request, set_id: UUID) -> Invited:
        """Return the workers who reach the threshold of the query; raise 400 for an invalid one."""
        version = get_payable_version(request, set_id)
        query = request.query_params
        try:
            least = float(query.get("at_least", ""))
        except ValueError:
            raise build_parameter_problem(
                "at_least", "Say which score it takes, such as 0.6."
            ) from None
        threshold = ScoreThreshold(
            *(least, parse_choice(query, "end", ENDS, SCORE), query.get("panel", "")),
            score=parse_choice(query, "score", SCORES, RAW),
        )
        try:
            return select_invited(version, threshold)
        except RuleError as error:
            sentence = f"{capfirst(str(error))}."
            if not error.field:
                raise ApiProblem("conflict", sentence) from None
            raise build_parameter_problem(error.field, sentence) from None
