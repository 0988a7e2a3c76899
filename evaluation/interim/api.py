"""REST API for interim gradings of an open collection."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.answering.monitor import find_newest_collection
from annotations.models import Collection, QuestionSet
from annotations.web.paging import Keyset
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.serializers import build_serializer
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import get_editable, get_set_with_answers, get_user_id
from evaluation.core.options import OptionError
from evaluation.grading.results.report.workers import WorkerRow
from evaluation.interim import turns as interims
from evaluation.interim.report import InterimReport, build_interim_report
from evaluation.models import Interim, Run
from evaluation.models.collecting import FEWEST
from evaluation.models.runs import GRADING
from evaluation.runs.flow.forecast import MoreWorkersForecast
from evaluation.runs.rest.runs import build_options_problem
from evaluation.runs.rest.views import SECONDS_BETWEEN_LOOKS, MessageField, build_conflict_problem
from evaluation.runs.run_types import get_kind

NEWEST_RUN = Keyset("interim", ("-run__public_id",))
TenMoreSerializer = build_serializer(MoreWorkersForecast)
WorkerRowSerializer = build_serializer(WorkerRow)


class InterimSerializer(serializers.Serializer[Interim]):
    """Interim grading of the submissions at its request; not an official run by itself."""

    run = serializers.UUIDField(source="run.public_id", help_text="Watch it at runs/RUN/.")
    name = serializers.CharField(source="run.name", help_text="Such as Interim, 12 people.")
    people = serializers.IntegerField(source="n_people", help_text="Who had handed in.")
    by_itself = serializers.BooleanField(help_text="Started by the setting grade_every.")
    state = serializers.ChoiceField(source="run.state", choices=Run.State.choices)
    created_at = serializers.DateTimeField(source="run.created_at")
    finished_at = serializers.DateTimeField(source="run.finished_at", allow_null=True)
    results = serializers.SerializerMethodField(
        help_text="Address of the results, with the grade of every worker; null while there are "
        "none."
    )
    headline = serializers.SerializerMethodField(
        help_text="Whether its grades can be used; null until it is worked out."
    )
    alarms = serializers.SerializerMethodField(help_text="Number of raised alarms.")
    notices = serializers.SerializerMethodField()
    ten_more = serializers.SerializerMethodField(
        help_text="The effect of ten more people; null where there are too few answers for a "
        "forecast, and until it is computed."
    )

    def get_results(self, interim: Interim) -> str | None:
        """Return the URL of the results; null if not finished."""
        if interim.run.state != Run.State.DONE:
            return None
        address = reverse("api:results-run", args=[interim.run.public_id])
        return str(self.context["request"].build_absolute_uri(address))

    def get_headline(self, interim: Interim) -> str | None:
        """Return the headline of the results; null until it is computed."""
        said = (interim.found or {}).get("headline")
        return None if said is None else MessageField().to_representation(said)

    def get_alarms(self, interim: Interim) -> int | None:
        """Return the number of raised alarms; null until it is computed."""
        return (interim.found or {}).get("alarms")

    def get_notices(self, interim: Interim) -> int | None:
        """Return the number of notices; null until it is computed."""
        return (interim.found or {}).get("notices")

    @extend_schema_field(TenMoreSerializer(allow_null=True))
    def get_ten_more(self, interim: Interim) -> dict[str, Any] | None:
        """Return the forecast for ten more workers; null without one."""
        hint = (interim.found or {}).get("hint")
        return None if hint is None else dict(TenMoreSerializer(hint).data)


class SoFarSerializer(serializers.Serializer[InterimReport]):
    """Latest interim grading, grading in progress and forecast of a collection."""

    people = serializers.IntegerField(source="done", help_text="Who has handed in.")
    needed = serializers.IntegerField(source="fewest", help_text="As many can be graded.")
    may_grade = serializers.BooleanField(
        help_text="Whether a grading can be asked for: not a second time of the same answers."
    )
    going = InterimSerializer(allow_null=True, help_text="The one that waits or works.")
    failed = InterimSerializer(allow_null=True, help_text="The latest, if it came to nothing.")
    latest = InterimSerializer(source="interim", allow_null=True, help_text="That is done.")
    since = serializers.IntegerField(help_text="People who handed in after the latest.")
    nearer_percent = serializers.IntegerField(
        source="narrower",
        help_text="By how much ten more people bring the consensus of the middle question nearer.",
    )
    best = WorkerRowSerializer(many=True, help_text="At most three, by rank.")
    lowest = WorkerRowSerializer(many=True)


@extend_schema(tags=["collecting"])
class InterimViewSet(ApiViewSet):
    """Endpoints of a collection's interim gradings, and of the forecast for ten more workers."""

    queryset = Interim.objects.all()
    serializer_class = InterimSerializer

    @extend_schema(
        operation_id="collecting_interims",
        summary="List the gradings of the answers so far, newest first",
        responses=InterimSerializer(many=True),
    )
    def list(self, request: Request, set_id: UUID) -> Response:
        """List the interim gradings of a collection."""
        collection = _find_collection(get_set_with_answers(request, set_id))
        rows = Interim.objects.filter(collection=collection).select_related("run")
        page = load_page(request, rows, NEWEST_RUN)
        return Response(
            build_page_body(request, self.get_serializer(page.rows, many=True).data, page.next)
        )

    @extend_schema(
        operation_id="collecting_interims_start",
        summary="Grade the answers so far",
        description="In the background, once three people have handed in (409 before); where one "
        "is under way, that one comes back. It is named “Interim, n people”, and does not count "
        "for its set by itself. Decide before how many people you want: stopping when one likes "
        "who leads misleads.",
        parameters=[IDEMPOTENCY_KEY],
        request=None,
        responses={202: OpenApiResponse(InterimSerializer, "The run is queued; see Location.")},
    )
    @make_repeatable
    def create(self, request: Request, set_id: UUID) -> Response:
        """Start an interim grading and return it with its URL (status 202)."""
        get_set_with_answers(request, set_id)
        collection = _find_collection(get_editable(request, QuestionSet.objects.all(), set_id))
        try:
            interim = interims.start_interim(collection, get_user_id(request))
        except interims.TooFewError as error:
            counts = {"people": error.done, "needed": FEWEST}
            raise build_conflict_problem("too_few_people", counts, **counts) from None
        except OptionError as error:
            raise build_options_problem(get_kind(GRADING), error, "conflict") from None
        there = reverse("api:run-detail", args=[interim.run.public_id])
        headers = {
            "Location": request.build_absolute_uri(there),
            "Retry-After": str(SECONDS_BETWEEN_LOOKS),
        }
        return Response(
            self.get_serializer(interim).data, status.HTTP_202_ACCEPTED, headers=headers
        )

    @extend_schema(
        operation_id="collecting_so_far",
        summary="Read the interim results of the answers so far",
        description="The latest grading with the best and the lowest workers, and the effect of "
        "ten more people. More people do not narrow the intervals of people's grades: these "
        "depend on how many questions each of them answers.",
        responses=SoFarSerializer,
    )
    def latest(self, request: Request, set_id: UUID) -> Response:
        """Return the latest interim grading and the forecast."""
        collection = _find_collection(get_set_with_answers(request, set_id))
        data = SoFarSerializer(
            build_interim_report(collection), context=self.get_serializer_context()
        )
        return Response(data.data)


def _find_collection(question_set: QuestionSet) -> Collection:
    """Return the set's newest collection. Raises Http404 if it was never opened to workers."""
    newest_collection = find_newest_collection(question_set)
    if newest_collection is None:
        raise Http404("it is not published to workers")
    return newest_collection
