"""REST API for runs and the files of their tables and exports.

Serve the tables of `evaluation.runs.exports` as streamed files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import Http404, StreamingHttpResponse
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

from annotations.exchange.writing.formats import CONTENT_TYPES, FORMATS
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.downloads import build_download_response, build_file_name
from annotations.web.query import parse_choice, parse_flag
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.examples import SET
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.negotiation import FileNegotiation
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.problems import ApiProblem, build_field_problem, build_parameter_problem
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.rest.versions import VERSION, find_requested_version
from annotations.web.scope import (
    get_editable,
    get_set_with_answers,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.admission import storage as recruiting
from evaluation.core.options import OptionError
from evaluation.models import Run
from evaluation.models.runs import LONGEST_NAME, LONGEST_NOTES, make_official
from evaluation.runs import exports
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.exclusions import EXCLUDE, add_excluded_workers
from evaluation.runs.exports import ChoiceError, Export, choose_named_run
from evaluation.runs.reports.about import build_run_file_name
from evaluation.runs.reports.lists import (
    RunApiFilter,
    annotate_runs_for_list,
    filter_unarchived_runs,
)
from evaluation.runs.rest.runs import (
    NEW_RUN,
    RunRowSerializer,
    RunSerializer,
    build_options_problem,
    find_request_serializer,
)
from evaluation.runs.rest.runs import RUN as RUN_BODY
from evaluation.runs.rest.views import FORMAT, SECONDS_BETWEEN_LOOKS, FinishedRunViewSet
from evaluation.runs.run_types import RunSummary, get_kind, get_run_kind
from evaluation.runs.run_types.data_sheets import FORMS, build_run_workbook, build_run_zip
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
        description="Computes over a version in the background; `run_type` names the "
        "computation; the default grades workers and scores models. Without `version` it reads "
        "the latest "
        "published version, for kinds that read people's answers the latest that has any; a draft "
        "only where nothing is published. Workers who are excluded from the set are left "
        "out unless `parameters` has `exclude_workers`; `[]` includes all workers. "
        "Send an Idempotency-Key if you may have to send it again.",
        parameters=[IDEMPOTENCY_KEY],
        request=NEW_RUN,
        responses={202: OpenApiResponse(RUN_BODY, "The run is queued; see Location.")},
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
        description="Until it has ended, Retry-After gives the seconds to the next request.",
        responses=RUN_BODY,
    ),
    partial_update=extend_schema(
        summary="Name a run, and note what it is for",
        request=RunLabelSerializer,
        responses=RUN_BODY,
    ),
    use=extend_schema(
        summary="Let a run count for its set",
        description="It is the official run then, one of each run type for a set: exports and the "
        "leaderboard of the set take it where no run is named; the leaderboard takes the newest "
        "run with models where this one scored none. 409 for a run that is not done.",
        request=None,
        responses=RUN_BODY,
    ),
    cancel=extend_schema(
        summary="Cancel a run",
        description="Again changes nothing. 409 for a run that is done or failed.",
        request=None,
        responses=RUN_BODY,
    ),
    pause=extend_schema(
        summary="Pause a run",
        description="Committed parts are stored; the run waits until it is resumed. A second "
        "request changes nothing. 409 for a run that has ended.",
        request=None,
        responses=RUN_BODY,
    ),
    resume=extend_schema(
        summary="Resume a paused run",
        description="The run is queued again. 409 for a run that has ended.",
        request=None,
        responses=RUN_BODY,
    ),
    again=extend_schema(
        summary="Start another run with the options of this one",
        description="With exactly the same parameters: workers who were excluded since are not "
        "left out by it.",
        request=None,
        parameters=[IDEMPOTENCY_KEY],
        responses={202: OpenApiResponse(RUN_BODY, "The run is queued; see Location.")},
    ),
)
@extend_schema(tags=["runs"])
class RunViewSet(ApiViewSet):
    """Endpoints of runs: computations over a version, which are never overwritten."""

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
            rows = filter_unarchived_runs(rows)
        page = load_filtered_page(
            request, RunApiFilter(request.query_params, annotate_runs_for_list(rows))
        )
        known = {"listed": {run.run.pk: run for run in list_runs(page.rows)}}
        data = RunRowSerializer(page.rows, many=True, context=known).data
        return Response(build_page_body(request, data, page.next))

    @make_repeatable
    def create(self, request: Request) -> Response:
        """Queue a run over a version, and return it with its URL (status 202)."""
        asks = require_requester(request)
        values = self.validate_body(find_request_serializer(request.data)).validated_data
        sets = select_visible(request, QuestionSet.objects.all())
        if not sets.filter(public_id=values["question_set"]).exists():
            raise build_field_problem(
                "question_set", "there is no such question set, or none you may see"
            )
        question_set = get_editable(request, QuestionSet.objects.all(), values["question_set"])
        number = values.get("version")
        kind = get_kind(values["run_type"])
        usual = question_set.get_default_version(answered=kind.needs_answers)
        read = usual.number if number is None and usual is not None else number
        version = lifecycle.find_gradable_version(
            question_set, None if read is None else str(read), answered=kind.needs_answers
        )
        if version is None:
            reason = (
                "there is no such version with answers" if number else "there are no answers yet"
            )
            raise build_field_problem("version" if number else "question_set", reason)
        named = values.get("parameters", {})
        parameters = kind.options(**named)
        if EXCLUDE not in named:
            parameters = add_excluded_workers(parameters, version)
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
        return self._build_started_response(run)

    def retrieve(self, request: Request, run_id: Any) -> Response:
        """Return a run with its state and progress."""
        return self._build_response(get_visible_or_404(request, self._select_runs(), run_id))

    def partial_update(self, request: Request, run_id: Any) -> Response:
        """Change name and notes of a run."""
        run = get_editable(request, self._select_runs(), run_id)
        values = self.validate_body(RunLabelSerializer).validated_data
        lifecycle.rename_run(run, values.get("name", run.name), values.get("notes", run.notes))
        return self._build_response(run)

    @action(detail=True, methods=["post"])
    def use(self, request: Request, run_id: Any) -> Response:
        """Make a run the official one of its question set."""
        run = get_editable(request, self._select_runs(), run_id)
        if run.state != Run.State.DONE:
            raise ApiProblem("conflict", f"Only a run that is done can count: it is {run.state}.")
        make_official(run, request.user)
        recruiting.apply_rules_of_set(run.version.question_set_id)
        return self._build_response(run)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, run_id: Any) -> Response:
        """Cancel a queued or running run."""
        run = get_editable(request, self._select_runs(), run_id)
        if not lifecycle.cancel_run(run) and run.state != Run.State.CANCELLED:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._build_response(run)

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, run_id: Any) -> Response:
        """Pause a queued or running run."""
        run = get_editable(request, self._select_runs(), run_id)
        if not lifecycle.pause_run(run) and run.state != Run.State.PAUSED:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._build_response(run)

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, run_id: Any) -> Response:
        """Resume a paused run."""
        run = get_editable(request, self._select_runs(), run_id)
        if not lifecycle.resume_run(run) and run.is_finished:
            raise ApiProblem("conflict", f"The run had ended before: it is {run.state}.")
        return self._build_response(run)

    @action(detail=True, methods=["post"])
    @make_repeatable
    def again(self, request: Request, run_id: Any) -> Response:
        """Start a new run with the same parameters over the current data of the version."""
        run = get_editable(request, self._select_runs(), run_id)
        try:
            return self._build_started_response(lifecycle.repeat_run(run, get_user_id(request)))
        except OptionError as error:
            raise build_options_problem(get_run_kind(run), error, "conflict") from None

    def _select_runs(self) -> Any:
        """Return the query of all runs with their question sets, without long fields."""
        return Run.objects.select_related("version__question_set").defer("summary", "reasons")

    def _build_response(self, run: Run) -> Response:
        """Return the response with a run; it has Retry-After while the run is unfinished."""
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        return Response(self.get_serializer(run).data, headers=headers)

    def _build_started_response(self, run: Run) -> Response:
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


class TableSerializer(serializers.Serializer[Any]):
    """A table of a run: its name, title and URL."""

    name = serializers.CharField()
    url = serializers.URLField(help_text="Address of its rows.")


class TableListSerializer(serializers.Serializer[Any]):
    """List of the tables of a run."""

    results = TableSerializer(many=True)


@extend_schema(tags=["results"])
class TableViewSet(FinishedRunViewSet):
    """Endpoints of the result tables of a run of any type."""

    content_negotiation_class = FileNegotiation

    @extend_schema(
        operation_id="results_tables",
        summary="List the tables of a run of any kind",
        responses=TableListSerializer,
    )
    def tables(self, request: Request, run_id: Any) -> Response:
        """Return the names and URLs of a run's tables."""
        run = self.get_finished_run(request, run_id, summary=RunSummary)
        tables = [
            {
                "name": name,
                "url": request.build_absolute_uri(
                    reverse("api:results-table", args=[run.public_id, name])
                ),
            }
            for name in self.get_kind(run).tables
        ]
        return Response({"results": tables})

    @extend_schema(
        operation_id="results_data",
        summary="Take away all that a run of any kind found",
        description="Every table, the run's own summary and signature, and what columns hold: a "
        "ZIP of CSV files, or a workbook with a sheet for each table.",
        parameters=[OpenApiParameter("format", str, enum=list(FORMS), default="zip")],
        responses={
            (200, CONTENT_TYPES[form]): {"type": "string", "format": "binary"} for form in FORMS
        },
    )
    def data(self, request: Request, run_id: Any) -> StreamingHttpResponse:
        """Return all tables of a run in one file."""
        run = self.get_finished_run(request, run_id, summary=RunSummary)
        kind = self.get_kind(run)
        form = parse_choice(request.query_params, "format", FORMS, "zip")
        chunks = build_run_zip(kind, run) if form == "zip" else build_run_workbook(kind, run)
        return build_download_response(chunks, build_run_file_name(run, "results"), form)

    @extend_schema(
        operation_id="results_table",
        summary="Take away a table of a run of any kind",
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH), FORMAT],
        responses={
            (200, kind.partition(";")[0]): {"type": "string", "format": "binary"}
            for kind in map(CONTENT_TYPES.__getitem__, FORMATS)
        },
    )
    def table(self, request: Request, run_id: Any, name: str) -> StreamingHttpResponse:
        """Return one table of a run, with every row."""
        run = self.get_finished_run(request, run_id, summary=RunSummary)
        table_of = self.get_kind(run).tables.get(name)
        if table_of is None:
            raise Http404
        form = parse_choice(request.query_params, "format", FORMATS, "jsonl")
        table = table_of(run)
        chunks = FORMATS[form](table.header, table.rows)
        return build_download_response(chunks, build_run_file_name(run, name), form)


Action = TypeVar("Action", bound=Callable[..., Any])

RUN = OpenApiParameter(
    "run",
    {"type": "string", "pattern": "^(record|latest|[0-9a-fA-F-]{32,36})$"},
    description="The id of a run whose scores and grades are added to the answers; or record, for "
    "the official run (the latest, where the version has none), or latest.",
)
PSEUDONYMS = OpenApiParameter(
    "pseudonyms", bool, description="Replace workers' ids, the same way in every export of the set."
)


def describe_export(summary: str, *parameters: OpenApiParameter) -> Callable[[Action], Action]:
    """Return the decorator that describes the endpoint of one exported file in the schema."""
    decorator: Callable[[Action], Action] = extend_schema(
        summary=summary,
        tags=["exports"],
        operation_id="exports_" + summary.removeprefix("Take away ").replace(" ", "_"),
        parameters=[FORMAT, VERSION, *parameters],
        responses={
            (200, kind.partition(";")[0]): {"type": "string", "format": "binary"}
            for kind in map(CONTENT_TYPES.__getitem__, FORMATS)
        },
    )
    return decorator


class ExportViewSet(ApiViewSet):
    """Endpoints of exports of all stored data in long format, which imports can read again."""

    queryset = QuestionSet.objects.all()
    lookup_url_kwarg = "set_id"
    content_negotiation_class = FileNegotiation

    @describe_export("Take away answers", RUN, PSEUDONYMS)
    def answers(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the workers' answers with times and flags, one row per answer."""
        version = self._choose_version(get_set_with_answers(request, set_id), answered=True)
        run = self._find_run(version)
        pseudonyms = parse_flag(request.query_params, "pseudonyms")
        made = exports.build_answers_export(version, run, pseudonyms=pseudonyms, user=request.user)
        return self._build_download(made)

    @describe_export("Take away model answers", RUN)
    def model_answers(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the language models' answers, one row per answer."""
        version = self._choose_version(get_set_with_answers(request, set_id), answered=True)
        return self._build_download(
            exports.build_model_answers_export(version, self._find_run(version), user=request.user)
        )

    @describe_export("Take away questions")
    def questions(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the questions, one row per question."""
        return self._build_download(
            exports.build_questions_export(self._find_version(set_id), user=request.user)
        )

    @describe_export("Take away passages")
    def passages(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the passages, one row per passage."""
        return self._build_download(
            exports.build_passages_export(self._find_version(set_id), user=request.user)
        )

    def _find_version(self, set_id: Any) -> QuestionSetVersion:
        """Return the requested version of a visible set. Raises Http404 and ApiProblem."""
        return self._choose_version(
            get_visible_or_404(self.request, QuestionSet.objects.all(), set_id)
        )

    def _choose_version(
        self, question_set: QuestionSet, *, answered: bool = False
    ) -> QuestionSetVersion:
        """Return the version that the request names; raise ApiProblem if the set is empty."""
        version = find_requested_version(self.request, question_set, answered=answered)
        if version is None:
            raise ApiProblem("conflict", "The set is empty: send questions or answers first.")
        return version

    def _find_run(self, version: QuestionSetVersion) -> Run | None:
        """Return the run named by the query parameter `run`; None without it. Raises ApiProblem."""
        wanted = self.request.query_params.get("run")
        if wanted is None:
            return None
        try:
            return choose_named_run(version, wanted, self.request.user)
        except ChoiceError as error:
            raise build_parameter_problem("run", str(error)) from None

    def _build_download(self, made: Export) -> StreamingHttpResponse:
        """Return the export as a download in the requested format."""
        kind = parse_choice(self.request.query_params, "format", FORMATS, "jsonl")
        version = made.version
        name = build_file_name(version.question_set.name, f"version-{version.number}", made.what)
        return build_download_response(made.iterate_chunks(kind), name, kind)
