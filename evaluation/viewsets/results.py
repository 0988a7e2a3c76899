"""Results of a run: the reports that pages and files show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.viewsets.base import ApiViewSet
from annotations.viewsets.paging import bad_cursor, cursor_of, limit_of, page_body, written
from annotations.viewsets.problems import ApiProblem, bad_parameter
from annotations.viewsets.reports import serializer_of
from annotations.viewsets.scope import visible_or_404
from evaluation.exports.consensus import zip_chunks
from evaluation.models import Run
from evaluation.reports import (
    BadCursorError,
    Ceiling,
    ModelAnswer,
    ModelRow,
    Page,
    QuestionAnswer,
    QuestionReport,
    QuestionRow,
    RunReport,
    WorkerAnswer,
    WorkerReport,
    WorkerRow,
    consensus_report,
    question_report,
    question_rows,
    run_report,
    worker_report,
    worker_rows,
)
from evaluation.reports.models import model_rows
from evaluation.reports.questions import ORDERS
from evaluation.viewsets.runs import SECONDS_BETWEEN_LOOKS

T = TypeVar("T")
AboutWorker = serializer_of(WorkerReport, without=("answers",))
AboutQuestion = serializer_of(QuestionReport, without=("answers",))


class PageSerializer(serializers.Serializer[Any]):
    """A page of a list inside of a report."""

    next = serializers.URLField(allow_null=True, help_text="Address of the next page.")


class WorkerAnswersSerializer(PageSerializer):
    """A worker's answers, in the order of the questions."""

    results = serializer_of(WorkerAnswer)(many=True)


class WorkerReportSerializer(AboutWorker):  # type: ignore[misc, valid-type]
    """A worker's grade and answers."""

    answers = WorkerAnswersSerializer()


class QuestionAnswersSerializer(PageSerializer):
    """The workers' answers to a question, nearest to the consensus first."""

    results = serializer_of(QuestionAnswer)(many=True)


class QuestionReportSerializer(AboutQuestion):  # type: ignore[misc, valid-type]
    """A question with its answers."""

    models = serializer_of(ModelAnswer, "why")(many=True)
    answers = QuestionAnswersSerializer()


RunReportSerializer = serializer_of(RunReport)
WorkerRowSerializer = serializer_of(WorkerRow)
QuestionRowSerializer = serializer_of(QuestionRow)
ModelRowSerializer = serializer_of(ModelRow, "why")
CeilingSerializer = serializer_of(Ceiling, "why")

CURSOR = OpenApiParameter("cursor", str, description="From `next` of the page before.")
LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50})


@extend_schema(tags=["results"])
class ResultViewSet(ApiViewSet):
    """Results of a run that is done; 409 for any other."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"

    @extend_schema(
        operation_id="results_run",
        summary="Read what a run found, and how",
        responses=RunReportSerializer,
    )
    def retrieve(self, request: Request, run_id: Any) -> Response:
        """Return the report without its rows."""
        return Response(RunReportSerializer(run_report(self._done(request, run_id))).data)

    @extend_schema(
        operation_id="results_workers",
        summary="List the workers, best grade first",
        parameters=[OpenApiParameter("search", str, description="A part of the worker's id.")],
        responses=WorkerRowSerializer(many=True),
    )
    def workers(self, request: Request, run_id: Any) -> Response:
        """Return a page of workers; those without a grade come last."""
        run = self._done(request, run_id)
        search = request.query_params.get("search", "").replace("\0", "")
        page, cursor = paged(
            request, "grade", lambda after, size: worker_rows(run, after, search, size)
        )
        rows = WorkerRowSerializer(page.rows, many=True).data
        return Response(page_body(request, rows, cursor))

    @extend_schema(
        operation_id="results_worker",
        summary="Read a worker's grade and answers",
        parameters=[CURSOR, LIMIT],
        responses=WorkerReportSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return the grade, and a page of answers beside the nearest to the consensus."""
        run = self._done(request, run_id)
        report, cursor = paged_report(
            request, "position", lambda after, size: worker_report(run, worker, after, size)
        )
        return Response(_report(request, report, AboutWorker, WorkerAnswer, cursor))

    @extend_schema(
        operation_id="results_questions",
        summary="List the questions with the answer nearest to the consensus",
        parameters=[
            OpenApiParameter(
                "by",
                str,
                enum=list(ORDERS),
                default="position",
                description="Their order; or the most disagreement first.",
            )
        ],
        responses=QuestionRowSerializer(many=True),
    )
    def questions(self, request: Request, run_id: Any) -> Response:
        """Return a page of questions."""
        run = self._done(request, run_id)
        by: Any = request.query_params.get("by", "position")
        if by not in ORDERS:
            raise bad_parameter("by", f"write {' or '.join(ORDERS)}")
        page, cursor = paged(request, by, lambda after, size: question_rows(run, after, by, size))
        rows = QuestionRowSerializer(page.rows, many=True).data
        return Response(page_body(request, rows, cursor))

    @extend_schema(
        operation_id="results_question",
        summary="Read a question with its answers, nearest to the consensus first",
        parameters=[CURSOR, LIMIT],
        responses=QuestionReportSerializer,
    )
    def question(self, request: Request, run_id: Any, question: Any) -> Response:
        """Return the question, its models' answers, and a page of the workers'."""
        run = self._done(request, run_id)
        report, cursor = paged_report(
            request, "score", lambda after, size: question_report(run, question, after, size)
        )
        body = _report(request, report, AboutQuestion, QuestionAnswer, cursor)
        body["models"] = serializer_of(ModelAnswer, "why")(report.models, many=True).data
        return Response(body)

    @extend_schema(
        operation_id="results_models",
        summary="List the language models, best score first",
        responses=ModelRowSerializer(many=True),
    )
    def models(self, request: Request, run_id: Any) -> Response:
        """Return a page of the leaderboard."""
        run = self._done(request, run_id)
        page, cursor = paged(request, "score", lambda after, size: model_rows(run, after, size))
        rows = ModelRowSerializer(page.rows, many=True).data
        return Response(page_body(request, rows, cursor))

    @extend_schema(
        operation_id="exports_consensus",
        tags=["exports"],
        summary="Take away the consensus as a benchmark",
        description="A ZIP with CSV, JSON Lines and a datasheet; it names no workers.",
        responses={(200, "application/zip"): {"type": "string", "format": "binary"}},
    )
    def consensus(self, request: Request, run_id: Any) -> StreamingHttpResponse:
        """Return what the crowd answers to each question, with support and dispersion."""
        run = self._done(request, run_id)
        name = f"crowdgrade-consensus-{run.public_id.hex[-8:]}.zip"
        return StreamingHttpResponse(
            zip_chunks(consensus_report(run)),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    def _done(self, request: Request, run_id: Any) -> Run:
        runs = Run.objects.select_related("version__question_set")
        run = visible_or_404(request, runs, run_id)
        if run.state == Run.State.DONE:
            return run
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        raise ApiProblem("no-results", f"The run is {run.state}.", headers=headers, state=run.state)


def paged(
    request: Request, order: str, read: Callable[[str, int], Page[T]]
) -> tuple[Page[T], str | None]:
    """Return the page that is asked for and the cursor of the next one."""
    place = cursor_of(request, order)
    try:
        page = read(place[0] if place else "", limit_of(request))
    except BadCursorError:
        raise bad_cursor() from None
    return page, _next(order, page)


def paged_report(request: Request, order: str, read: Callable[[str, int], Any]) -> tuple[Any, Any]:
    """Return a report with a page of answers and the cursor of the next one; Http404 for None."""
    place = cursor_of(request, order)
    try:
        report = read(place[0] if place else "", limit_of(request))
    except BadCursorError:
        raise bad_cursor() from None
    if report is None:
        raise Http404
    return report, _next(order, report.answers)


def _next(order: str, page: Page[Any]) -> str | None:
    return None if page.next is None else written(order, [page.next])


def _report(request: Request, report: Any, about: Any, answer: Any, cursor: Any) -> dict[str, Any]:
    answers = serializer_of(answer)(report.answers.rows, many=True).data
    return {**about(report).data, "answers": page_body(request, answers, cursor)}
