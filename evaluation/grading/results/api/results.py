"""REST API views of a run's results: workers, questions, models and consensus."""

from __future__ import annotations

from typing import Any, TypeVar

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.downloads import download
from annotations.web.paging import Page
from annotations.web.query import parse_choice
from annotations.web.rest.paging import build_page_body, read_cursor, read_limit
from annotations.web.rest.serializers import build_serializer
from evaluation.grading.results.consensus_files import iterate_zip
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.grading.results.report.models import ModelRow, read_model_rows
from evaluation.grading.results.report.question import (
    ModelAnswer,
    QuestionAnswer,
    QuestionReport,
    build_question_report,
)
from evaluation.grading.results.report.questions import ORDERS, QuestionRow, read_question_rows
from evaluation.grading.results.report.run import Ceiling
from evaluation.grading.results.report.what_if import WhatIf, build_what_if
from evaluation.grading.results.report.worker import WorkerAnswer, WorkerReport, build_worker_report
from evaluation.grading.results.report.workers import WorkerRow, read_worker_rows
from evaluation.grading.results.rest import OF_ALARM, GradingViewSet, read_alarm_key
from evaluation.runs.reports.run_titles import build_run_file_name
from evaluation.runs.rest.finished_runs import CURSOR, LIMIT, PageSerializer
from evaluation.runs.rest.run_kinds import REPORT
from evaluation.runs.run_types import RunSummary

T = TypeVar("T")
AboutWorker = build_serializer(WorkerReport, without=("answers",))
AboutQuestion = build_serializer(QuestionReport, without=("answers",))


class WorkerAnswersSerializer(PageSerializer):
    """A page of a worker's answers, in the order of the questions."""

    results = build_serializer(WorkerAnswer)(many=True)


class WorkerReportSerializer(AboutWorker):  # type: ignore[misc, valid-type]
    """A worker's grade, with a page of the worker's answers."""

    answers = WorkerAnswersSerializer()


class QuestionAnswersSerializer(PageSerializer):
    """A page of the workers' answers to a question, nearest to the consensus first."""

    results = build_serializer(QuestionAnswer)(many=True)


class QuestionReportSerializer(AboutQuestion):  # type: ignore[misc, valid-type]
    """A question with the models' answers and a page of the workers' answers."""

    models = build_serializer(ModelAnswer, "why")(many=True)
    answers = QuestionAnswersSerializer()


WorkerRowSerializer = build_serializer(WorkerRow)
QuestionRowSerializer = build_serializer(QuestionRow)
ModelRowSerializer = build_serializer(ModelRow, "why")
WhatIfSerializer = build_serializer(WhatIf, "why")
CeilingSerializer = build_serializer(Ceiling, "why")


@extend_schema(tags=["results"])
class ResultViewSet(GradingViewSet):
    """API endpoints for the results of a run: workers, questions, models, consensus."""

    @extend_schema(
        operation_id="results_run",
        summary="Read what a run found, and how",
        description="Each kind of run has a report of its own.",
        responses=REPORT,
    )
    def retrieve(self, request: Request, run_id: Any) -> Response:
        """Return a run's report without lists of workers or questions, as its run type defines."""
        run = self.done(request, run_id, summary=RunSummary)
        report = self.kind_of(run).found(run)
        return Response(build_serializer(report.__class__)(report).data)

    @extend_schema(
        operation_id="results_workers",
        summary="List the workers, best grade first",
        parameters=[
            OpenApiParameter("search", str, description="A part of the worker's id."),
            OF_ALARM,
        ],
        responses=WorkerRowSerializer(many=True),
    )
    def workers(self, request: Request, run_id: Any) -> Response:
        """Return a page of workers, best grade first; those without a grade come last."""
        run = self.done(request, run_id)
        search = request.query_params.get("search", "").replace("\0", "")
        alarm = read_alarm_key(request, run)
        page = read_worker_rows(run, read_cursor(request), search, read_limit(request), alarm)
        return _respond_with_page(request, page, WorkerRowSerializer)

    @extend_schema(
        operation_id="results_worker",
        summary="Read a worker's grade and answers",
        parameters=[CURSOR, LIMIT],
        responses=WorkerReportSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return a worker's grade and a page of answers, each beside the consensus answer."""
        run = self.done(request, run_id)
        report = _require(
            build_worker_report(run, worker, read_cursor(request), read_limit(request))
        )
        return Response(_build_body(request, report, AboutWorker, WorkerAnswer))

    @extend_schema(
        operation_id="results_worker_without",
        summary="See how the run would be without a worker",
        description="Computed at once, as a run of the same settings without the worker would; "
        "nothing is stored. Where that would not be quick, or not be what a run would find, "
        "`reason` is a code and `why` says it in words; all else is empty then, and a run with the "
        "worker in `exclude_workers` finds it.",
        responses=WhatIfSerializer,
    )
    def without(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return how ranks would change if this worker were excluded as well."""
        run = self.done(request, run_id)
        return Response(WhatIfSerializer(_require(build_what_if(run, worker))).data)

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
            ),
            OF_ALARM,
        ],
        responses=QuestionRowSerializer(many=True),
    )
    def questions(self, request: Request, run_id: Any) -> Response:
        """Return a page of questions, in their own order or by disagreement."""
        run = self.done(request, run_id)
        by: Any = parse_choice(request.query_params, "by", ORDERS, "position")
        alarm = read_alarm_key(request, run)
        page = read_question_rows(run, read_cursor(request), by, read_limit(request), alarm)
        return _respond_with_page(request, page, QuestionRowSerializer)

    @extend_schema(
        operation_id="results_question",
        summary="Read a question with its answers, nearest to the consensus first",
        parameters=[CURSOR, LIMIT],
        responses=QuestionReportSerializer,
    )
    def question(self, request: Request, run_id: Any, question: Any) -> Response:
        """Return a question, its models' answers, and a page of the workers' answers."""
        run = self.done(request, run_id)
        report = _require(
            build_question_report(run, question, read_cursor(request), read_limit(request))
        )
        body = _build_body(request, report, AboutQuestion, QuestionAnswer)
        body["models"] = build_serializer(ModelAnswer, "why")(report.models, many=True).data
        return Response(body)

    @extend_schema(
        operation_id="results_models",
        summary="List the language models, best score first",
        responses=ModelRowSerializer(many=True),
    )
    def models(self, request: Request, run_id: Any) -> Response:
        """Return a page of models, best score first."""
        run = self.done(request, run_id)
        page = read_model_rows(run, read_cursor(request), read_limit(request))
        return _respond_with_page(request, page, ModelRowSerializer)

    @extend_schema(
        operation_id="exports_consensus",
        tags=["exports"],
        summary="Take away the consensus as a benchmark",
        description="A ZIP with CSV, JSON Lines and a datasheet; it names no workers.",
        responses={(200, "application/zip"): {"type": "string", "format": "binary"}},
    )
    def consensus(self, request: Request, run_id: Any) -> StreamingHttpResponse:
        """Send the consensus answers of a run as a ZIP file."""
        run = self.done(request, run_id)
        return download(
            iterate_zip(build_consensus_report(run)), build_run_file_name(run, "consensus"), "zip"
        )


def _respond_with_page(request: Request, page: Page[Any], row: Any) -> Response:
    """Return the response with one page of a list; `row` is the serializer of a row."""
    return Response(build_page_body(request, row(page.rows, many=True).data, page.next))


def _require(report: T | None) -> T:
    """Return the report; raise 404 if it is None."""
    if report is None:
        raise Http404
    return report


def _build_body(request: Request, report: Any, about: Any, answer: Any) -> dict[str, Any]:
    """Return the response body of a report; `about` and `answer` define its parts' fields.

    `about` is the serializer of the report without answers, `answer` the record of an answer.
    """
    answers = build_serializer(answer)(report.answers.rows, many=True).data
    return {**about(report).data, "answers": build_page_body(request, answers, report.answers.next)}
