"""Runs: start, watch, pause, cancel, do again."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import QuestionSet
from annotations.web.query import flag
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.examples import SET
from annotations.web.rest.filtering import filtered_page, sort_parameter
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import page_body
from annotations.web.rest.problems import ApiProblem, Fault, bad_field
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import editable, maker, user_id, visible, visible_or_404
from evaluation import recruiting
from evaluation.api.run_kinds import NEW_RUN, described_runs, new_run_in
from evaluation.api.said import SaidField
from evaluation.background import runs as lifecycle
from evaluation.background.exclusions import EXCLUDE, leave_out_excluded
from evaluation.background.progress import progress_of
from evaluation.kinds import Kind, UnknownKindError, kind_named, kind_of
from evaluation.kinds.listed import ListedRun, listed
from evaluation.models import Run
from evaluation.models.runs import LONGEST_NAME, LONGEST_NOTES
from evaluation.models.runs_of_record import choose
from evaluation.options import API, OptionError
from evaluation.reports.list_filters import RunFilter
from evaluation.reports.lists import in_short, unarchived

SECONDS_BETWEEN_LOOKS = 2
WATCH = {
    "Retry-After": {
        "schema": {"type": "integer"},
        "description": "Seconds after which to look again; absent once the run has ended.",
    }
}
LOCATION = {"Location": {"schema": {"type": "string", "format": "uri"}}}


class ProgressSerializer(serializers.Serializer[Any]):
    """How far a run is; `done` of `total` counts the steps of `stage`."""

    stage = serializers.CharField(help_text="Such as embedding; empty before the first.")
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    rate = serializers.FloatField(allow_null=True, help_text="Steps a second.")
    seconds_left = serializers.FloatField(allow_null=True, help_text="Of the stage.")
    waiting = serializers.BooleanField(help_text="Nobody works on it: no worker is running.")


class RunRowSerializer(serializers.ModelSerializer[Run]):
    """A run in a list."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    question_set = serializers.UUIDField(source="version.question_set.public_id")
    version = serializers.IntegerField(source="version.number")
    embedder = serializers.CharField(allow_null=True)
    called = serializers.SerializerMethodField(
        help_text="Its name; without one what differs from the defaults, or its date."
    )
    differs = serializers.SerializerMethodField(
        help_text="What differs from the defaults, a few words each."
    )
    of_record = serializers.SerializerMethodField(
        help_text="Whether exports and overviews take it for the set."
    )

    class Meta:
        """The fields, in their order."""

        model = Run
        fields = (
            *("id", "name", "called", "differs", "of_record", "question_set", "version", "kind"),
            *("state", "embedder", "created_at", "started_at", "finished_at"),
        )
        read_only_fields = fields

    def get_called(self, run: Run) -> str:
        """What it is called."""
        return self._listed(run).called.title

    def get_differs(self, run: Run) -> list[str]:
        """What differs."""
        return list(self._listed(run).called.differs)

    def get_of_record(self, run: Run) -> bool:
        """Whether it counts."""
        return self._listed(run).is_of_record

    def _listed(self, run: Run) -> ListedRun:
        # A list looks all of them up at once, and every other answer shows one.
        known: dict[int, ListedRun] = self.context.get("listed", {})
        return known.get(run.pk) or listed([run])[0]


class RunSerializer(RunRowSerializer):
    """A run; queued, running, paused, done, failed or cancelled."""

    embedder = None  # type: ignore[assignment]
    parameters = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    error = SaidField(help_text="Why it failed.")
    warnings = serializers.ListField(child=SaidField())
    results = serializers.SerializerMethodField(
        help_text="Address of the results; null while there are none."
    )

    class Meta:
        """The fields, in their order."""

        model = Run
        fields = (
            *("id", "name", "notes", "called", "differs", "of_record", "question_set", "version"),
            *("kind", "state", "progress", "parameters"),
            *("signature", "input_hash", "error", "warnings", "results"),
            *("created_at", "started_at", "finished_at", "n_withdrawn"),
        )
        read_only_fields = fields

    def get_parameters(self, run: Run) -> dict[str, Any]:
        """All parameters, also those that were left to their defaults."""
        try:
            return kind_of(run).options.completed(run.parameters)
        except UnknownKindError:
            return dict(run.parameters)

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, run: Run) -> dict[str, Any]:
        """How far it is."""
        return dict(ProgressSerializer(progress_of(run)).data)

    def get_results(self, run: Run) -> str | None:
        """The address of the results."""
        if run.state != Run.State.DONE:
            return None
        address = reverse("api:results-run", args=[run.public_id])
        return str(self.context["request"].build_absolute_uri(address))


class RunLabelSerializer(StrictSerializer):
    """What people call a run, and note about it; what is left out stays."""

    name = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_NAME)
    notes = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_NOTES)


RUN = described_runs(RunSerializer)
ARCHIVED = OpenApiParameter(
    "archived", bool, description="Those that are archived, instead of all others."
)


@extend_schema_view(
    list=extend_schema(
        summary="List runs, newest first",
        filters=True,
        parameters=[sort_parameter(RunFilter), ARCHIVED],
        responses=RunRowSerializer(many=True),
    ),
    create=extend_schema(
        summary="Start a run",
        description="Computes over a version in the background; `kind` says what, and grades "
        "workers and scores models where it is left out. Workers whom people excluded from the set "
        "are left out where `parameters` does not name `exclude_workers`; `[]` leaves out nobody. "
        "Send an Idempotency-Key if you may have to send it again.",
        parameters=[IDEMPOTENCY_KEY],
        request=NEW_RUN,
        responses={202: OpenApiResponse(RUN, "It waits for a worker; see Location.")},
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
        description="It is the run of record then, one of each kind for a set: exports and the "
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
        description="It waits for a worker again. 409 for a run that has ended.",
        request=None,
        responses=RUN,
    ),
    again=extend_schema(
        summary="Start a run like this one, beside it",
        description="With exactly the same parameters: workers who were excluded since are not "
        "left out by it.",
        request=None,
        parameters=[IDEMPOTENCY_KEY],
        responses={202: OpenApiResponse(RUN, "It waits for a worker; see Location.")},
    ),
)
@extend_schema(tags=["runs"])
class RunViewSet(ApiViewSet):
    """Computations over a version; never overwritten, only followed by others."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"
    serializer_class = RunSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: rows are filtered by `filtered_page`
    filterset_class = RunFilter

    def list(self, request: Request) -> Response:
        """List the runs that you see."""
        rows = visible(request, Run.objects.all()).select_related("version__question_set")
        rows = rows.defer("version__question_set__description", "version__question_set__notice")
        if flag(request.query_params, "archived"):
            rows = rows.exclude(archived_at=None)
        else:
            rows = unarchived(rows)
        page = filtered_page(request, RunFilter(request.query_params, in_short(rows)))
        known = {"listed": {one.run.pk: one for one in listed(page.rows)}}
        shown = RunRowSerializer(page.rows, many=True, context=known).data
        return Response(page_body(request, shown, page.next))

    @repeatable
    def create(self, request: Request) -> Response:
        """Start a run."""
        asks = maker(request)
        values = self.checked(new_run_in(request.data)).validated_data
        sets = visible(request, QuestionSet.objects.all())
        if not sets.filter(public_id=values["question_set"]).exists():
            raise bad_field("question_set", "there is no such question set, or none you may see")
        question_set = editable(request, QuestionSet.objects.all(), values["question_set"])
        number = values.get("version")
        kind = kind_named(values["kind"])
        version = lifecycle.version_to_grade(
            question_set, None if number is None else str(number), answered=kind.needs_answers
        )
        if version is None:
            reason = "there is no such version with answers" if number else "nobody answered yet"
            raise bad_field("version" if number else "question_set", reason)
        named = values.get("parameters", {})
        parameters = kind.options(**named)
        if EXCLUDE not in named:
            parameters = leave_out_excluded(parameters, version)
        try:
            run = lifecycle.queue(
                version,
                asks,
                parameters,
                kind.name,
                name=values.get("name", ""),
                notes=values.get("notes", ""),
            )
        except OptionError as error:
            raise refused_options(kind, error) from None
        return self._started(run)

    def retrieve(self, request: Request, run_id: Any) -> Response:
        """Say how a run stands."""
        return self._shown(visible_or_404(request, self._rows(), run_id))

    def partial_update(self, request: Request, run_id: Any) -> Response:
        """Change name and notes."""
        run = editable(request, self._rows(), run_id)
        values = self.checked(RunLabelSerializer).validated_data
        lifecycle.rename(run, values.get("name", run.name), values.get("notes", run.notes))
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def use(self, request: Request, run_id: Any) -> Response:
        """Let a run count for its set."""
        run = editable(request, self._rows(), run_id)
        if run.state != Run.State.DONE:
            raise ApiProblem("conflict", f"Only a run that is done can count: it is {run.state}.")
        choose(run, request.user)
        recruiting.follow(run.version.question_set_id)
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, run_id: Any) -> Response:
        """End a run that waits or works."""
        run = editable(request, self._rows(), run_id)
        if not lifecycle.cancel(run) and run.state != Run.State.CANCELLED:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, run_id: Any) -> Response:
        """Let nobody work on a run for now."""
        run = editable(request, self._rows(), run_id)
        if not lifecycle.pause(run) and run.state != Run.State.PAUSED:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._shown(run)

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, run_id: Any) -> Response:
        """Let a paused run go on."""
        run = editable(request, self._rows(), run_id)
        if not lifecycle.resume(run) and run.is_finished:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._shown(run)

    @action(detail=True, methods=["post"])
    @repeatable
    def again(self, request: Request, run_id: Any) -> Response:
        """Start a run with the same parameters over the same version as it is now."""
        run = editable(request, self._rows(), run_id)
        try:
            return self._started(lifecycle.again(run, user_id(request)))
        except OptionError as error:
            raise refused_options(kind_of(run), error, "conflict") from None

    def _rows(self) -> Any:
        return Run.objects.select_related("version__question_set").defer("summary", "reasons")

    def _shown(self, run: Run) -> Response:
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        return Response(self.get_serializer(run).data, headers=headers)

    def _started(self, run: Run) -> Response:
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


def refused_options(kind: Kind, error: OptionError, code: str = "invalid") -> ApiProblem:
    """Return the problem of options that the database would not have."""
    if any(one.code == "too_many_runs" for one in error.problems):
        code = "conflict"  # nothing is wrong with the request itself
    faults = [
        Fault(
            API.sentence(kind.options, one),
            pointer=f"#/parameters/{one.option}" if one.option else "#",
            code=one.code,
        )
        for one in error.problems
    ]
    return ApiProblem(code, " ".join(f"{fault.detail}." for fault in faults), faults)
