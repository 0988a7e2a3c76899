"""REST API for runs: start, watch, rename, pause, cancel and repeat."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_view,
)
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import QuestionSet
from annotations.web.query import parse_flag
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.examples import SET
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import repeatable
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import (
    get_editable,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.admission import storage as recruiting
from evaluation.core.options import OptionError
from evaluation.models import Run
from evaluation.models.runs import LONGEST_NAME, LONGEST_NOTES
from evaluation.models.runs_of_record import choose
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.exclusions import EXCLUDE, leave_out_excluded
from evaluation.runs.reports.list_filters import RunApiFilter
from evaluation.runs.reports.lists import filter_unarchived, select_list_rows
from evaluation.runs.rest.finished_runs import SECONDS_BETWEEN_LOOKS
from evaluation.runs.rest.run_kinds import NEW_RUN, find_request_serializer
from evaluation.runs.rest.runs import RUN, RunRowSerializer, RunSerializer, build_options_problem
from evaluation.runs.run_types import get_kind, get_run_kind
from evaluation.runs.run_types.run_list import list_runs

WATCH = {
    "Retry-After": {
        "schema": {"type": "integer"},
        "description": "Seconds after which to look again; absent once the run has ended.",
    }
}
LOCATION = {"Location": {"schema": {"type": "string", "format": "uri"}}}


class RunLabelSerializer(StrictSerializer):
    """Name and notes of a run; omitted fields stay unchanged."""

    name = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_NAME)
    notes = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_NOTES)


ARCHIVED = OpenApiParameter(
    "archived", bool, description="Those that are archived, instead of all others."
)


@extend_schema_view(
    list=extend_schema(
        summary="List runs, newest first",
        filters=True,
        parameters=[build_sort_parameter(RunApiFilter), ARCHIVED],
        responses=RunRowSerializer(many=True),
    ),
    create=extend_schema(
        summary="Start a run",
        description="Computes over a version in the background; `run_type` says what, and grades "
        "workers and scores models where it is left out. Without `version` it reads the latest "
        "published version, for kinds that read people's answers the latest that has any; a draft "
        "only where nothing is published. Workers who are excluded from the set are left "
        "out unless `parameters` has `exclude_workers`; `[]` includes all workers. "
        "Send an Idempotency-Key if you may have to send it again.",
        parameters=[IDEMPOTENCY_KEY],
        request=NEW_RUN,
        responses={202: OpenApiResponse(RUN, "The run is queued; see Location.")},
        examples=[
            OpenApiExample(
                "With intervals",
                value={
                    "question_set": SET,
                    "parameters": {"embedder": "tfidf-word", "bootstrap": 100},
                },
                request_only=True,
            )
        ],
    ),
    retrieve=extend_schema(
        summary="Watch a run",
        description="Until it has ended, Retry-After says when to look again.",
        responses=RUN,
    ),
    partial_update=extend_schema(
        summary="Name a run, and note what it is for",
        request=RunLabelSerializer,
        responses=RUN,
    ),
    use=extend_schema(
        summary="Let a run count for its set",
        description="It is the official run then, one of each run type for a set: exports and the "
        "leaderboard of the set take it where no run is named; the leaderboard takes the newest "
        "run with models where this one scored none. 409 for a run that is not done.",
        request=None,
        responses=RUN,
    ),
    cancel=extend_schema(
        summary="Cancel a run",
        description="Again changes nothing. 409 for a run that is done or failed.",
        request=None,
        responses=RUN,
    ),
    pause=extend_schema(
        summary="Pause a run",
        description="What it has committed stays; nobody works on it until it is resumed. Again "
        "changes nothing. 409 for a run that has ended.",
        request=None,
        responses=RUN,
    ),
    resume=extend_schema(
        summary="Resume a paused run",
        description="The run is queued again. 409 for a run that has ended.",
        request=None,
        responses=RUN,
    ),
    again=extend_schema(
        summary="Start another run with the options of this one",
        description="With exactly the same parameters: workers who were excluded since are not "
        "left out by it.",
        request=None,
        parameters=[IDEMPOTENCY_KEY],
        responses={202: OpenApiResponse(RUN, "The run is queued; see Location.")},
    ),
)
@extend_schema(tags=["runs"])
class RunViewSet(ApiViewSet):
    """Runs (computations over a version of a question set), which are never overwritten."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"
    serializer_class = RunSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: rows are filtered by `filtered_page`
    filterset_class = RunApiFilter

    def list(self, request: Request) -> Response:
        """List the runs that the user may see."""
        rows = select_visible(request, Run.objects.all()).select_related("version__question_set")
        rows = rows.defer("version__question_set__description", "version__question_set__notice")
        if parse_flag(request.query_params, "archived"):
            rows = rows.exclude(archived_at=None)
        else:
            rows = filter_unarchived(rows)
        page = load_filtered_page(
            request, RunApiFilter(request.query_params, select_list_rows(rows))
        )
        known = {"listed": {one.run.pk: one for one in list_runs(page.rows)}}
        shown = RunRowSerializer(page.rows, many=True, context=known).data
        return Response(build_page_body(request, shown, page.next))

    @repeatable
    def create(self, request: Request) -> Response:
        """Start a run."""
        asks = require_requester(request)
        values = self.checked(find_request_serializer(request.data)).validated_data
        sets = select_visible(request, QuestionSet.objects.all())
        if not sets.filter(public_id=values["question_set"]).exists():
            raise build_field_problem(
                "question_set", "there is no such question set, or none you may see"
            )
        question_set = get_editable(request, QuestionSet.objects.all(), values["question_set"])
        number = values.get("version")
        kind = get_kind(values["run_type"])
        usual = question_set.default_version(answered=kind.needs_answers)
        read = usual.number if number is None and usual is not None else number
        version = lifecycle.find_version(
            question_set, None if read is None else str(read), answered=kind.needs_answers
        )
        if version is None:
            reason = "there is no such version with answers" if number else "nobody answered yet"
            raise build_field_problem("version" if number else "question_set", reason)
        named = values.get("parameters", {})
        parameters = kind.options(**named)
        if EXCLUDE not in named:
            parameters = leave_out_excluded(parameters, version)
        try:
            run = lifecycle.queue_run(
                version,
                asks,
                parameters,
                kind.name,
                name=values.get("name", ""),
                notes=values.get("notes", ""),
            )
        except OptionError as error:
            raise build_options_problem(kind, error) from None
        return self._started(run)

    def retrieve(self, request: Request, run_id: Any) -> Response:
        """Return a run with its state and progress."""
        return self._shown(get_visible_or_404(request, self._rows(), run_id))

    def partial_update(self, request: Request, run_id: Any) -> Response:
        """Change name and notes of a run."""
        run = get_editable(request, self._rows(), run_id)
        values = self.checked(RunLabelSerializer).validated_data
        lifecycle.rename_run(run, values.get("name", run.name), values.get("notes", run.notes))
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def use(self, request: Request, run_id: Any) -> Response:
        """Make a run the official one of its question set."""
        run = get_editable(request, self._rows(), run_id)
        if run.state != Run.State.DONE:
            raise ApiProblem("conflict", f"Only a run that is done can count: it is {run.state}.")
        choose(run, request.user)
        recruiting.follow(run.version.question_set_id)
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, run_id: Any) -> Response:
        """Cancel a queued or running run."""
        run = get_editable(request, self._rows(), run_id)
        if not lifecycle.cancel_run(run) and run.state != Run.State.CANCELLED:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, run_id: Any) -> Response:
        """Pause a run."""
        run = get_editable(request, self._rows(), run_id)
        if not lifecycle.pause_run(run) and run.state != Run.State.PAUSED:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, run_id: Any) -> Response:
        """Resume a paused run."""
        run = get_editable(request, self._rows(), run_id)
        if not lifecycle.resume_run(run) and run.is_finished:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._shown(run)

    @action(detail=True, methods=["post"])
    @repeatable
    def again(self, request: Request, run_id: Any) -> Response:
        """Start a run with the same parameters over the current state of the version."""
        run = get_editable(request, self._rows(), run_id)
        try:
            return self._started(lifecycle.repeat_run(run, get_user_id(request)))
        except OptionError as error:
            raise build_options_problem(get_run_kind(run), error, "conflict") from None

    def _rows(self) -> Any:
        """Return the runs joined with their question sets, without long fields."""
        return Run.objects.select_related("version__question_set").defer("summary", "reasons")

    def _shown(self, run: Run) -> Response:
        """Return the response with a run; it has Retry-After while the run is unfinished."""
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        return Response(self.get_serializer(run).data, headers=headers)

    def _started(self, run: Run) -> Response:
        """Return the 202 response with the URL of the started run."""
        return Response(
            self.get_serializer(run).data,
            status.HTTP_202_ACCEPTED,
            headers={
                "Location": self.request.build_absolute_uri(
                    reverse("api:run-detail", args=[run.public_id])
                ),
                "Retry-After": str(SECONDS_BETWEEN_LOOKS),
            },
        )
