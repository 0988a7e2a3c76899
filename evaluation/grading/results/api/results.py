"""Results of a run: the reports that pages and files show."""

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
from evaluation.grading.results.consensus_files import zip_chunks
from evaluation.grading.results.report.consensus import consensus_report
from evaluation.grading.results.report.models import ModelRow, model_rows
from evaluation.grading.results.report.question import (
    ModelAnswer,
    QuestionAnswer,
    QuestionReport,
    question_report,
)
from evaluation.grading.results.report.questions import ORDERS, QuestionRow, question_rows
from evaluation.grading.results.report.run import Ceiling
from evaluation.grading.results.report.what_if import WhatIf, what_if
from evaluation.grading.results.report.worker import WorkerAnswer, WorkerReport, worker_report
from evaluation.grading.results.report.workers import WorkerRow, worker_rows
from evaluation.grading.results.rest import OF_ALARM, GradingViewSet, alarm_in
from evaluation.kinds import RunSummary
from evaluation.reports.called import file_of
from evaluation.rest.done_runs import CURSOR, LIMIT, PageSerializer
from evaluation.rest.run_kinds import REPORT

T = TypeVar("T")
AboutWorker = build_serializer(WorkerReport, without=("answers",))
AboutQuestion = build_serializer(QuestionReport, without=("answers",))


class WorkerAnswersSerializer(PageSerializer):
    """A worker's answers, in the order of the questions."""

    results = build_serializer(WorkerAnswer)(many=True)


class WorkerReportSerializer(AboutWorker):  # type: ignore[misc, valid-type]
    """A worker's grade and answers."""

    answers = WorkerAnswersSerializer()


class QuestionAnswersSerializer(PageSerializer):
    """The workers' answers to a question, nearest to the consensus first."""

    results = build_serializer(QuestionAnswer)(many=True)


class QuestionReportSerializer(AboutQuestion):  # type: ignore[misc, valid-type]
    """A question with its answers."""

    models = build_serializer(ModelAnswer, "why")(many=True)
    answers = QuestionAnswersSerializer()


WorkerRowSerializer = build_serializer(WorkerRow)
QuestionRowSerializer = build_serializer(QuestionRow)
ModelRowSerializer = build_serializer(ModelRow, "why")
WhatIfSerializer = build_serializer(WhatIf, "why")
CeilingSerializer = build_serializer(Ceiling, "why")


@extend_schema(tags=["results"])
class ResultViewSet(GradingViewSet):
    """Grades, answers and scores."""

    @extend_schema(
        operation_id="results_run",
        summary="Read what a run found, and how",
        description="Each kind of run has a report of its own.",
        responses=REPORT,
    )
    def retrieve(self, request: Request, run_id: Any) -> Response:
        """Return the report without its rows; that of its kind for a run of another kind."""
        run = self.done(request, run_id, summary=RunSummary)
        found = self.kind_of(run).found(run)
        return Response(build_serializer(found.__class__)(found).data)

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
        """Return a page of workers; those without a grade come last."""
        run = self.done(request, run_id)
        search = request.query_params.get("search", "").replace("\0", "")
        alarm = alarm_in(request, run)
        page = worker_rows(run, read_cursor(request), search, read_limit(request), alarm)
        return _page(request, page, WorkerRowSerializer)

    @extend_schema(
        operation_id="results_worker",
        summary="Read a worker's grade and answers",
        parameters=[CURSOR, LIMIT],
        responses=WorkerReportSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return the grade, and a page of answers beside the nearest to the consensus."""
        run = self.done(request, run_id)
        report = _found(worker_report(run, worker, read_cursor(request), read_limit(request)))
        return Response(_report(request, report, AboutWorker, WorkerAnswer))

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
        """Return who would move, and how far the order of the others stays."""
        run = self.done(request, run_id)
        return Response(WhatIfSerializer(_found(what_if(run, worker))).data)

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
        """Return a page of questions."""
        run = self.done(request, run_id)
        by: Any = parse_choice(request.query_params, "by", ORDERS, "position")
        alarm = alarm_in(request, run)
        page = question_rows(run, read_cursor(request), by, read_limit(request), alarm)
        return _page(request, page, QuestionRowSerializer)

    @extend_schema(
        operation_id="results_question",
        summary="Read a question with its answers, nearest to the consensus first",
        parameters=[CURSOR, LIMIT],
        responses=QuestionReportSerializer,
    )
    def question(self, request: Request, run_id: Any, question: Any) -> Response:
        """Return the question, its models' answers, and a page of the workers'."""
        run = self.done(request, run_id)
        report = _found(question_report(run, question, read_cursor(request), read_limit(request)))
        body = _report(request, report, AboutQuestion, QuestionAnswer)
        body["models"] = build_serializer(ModelAnswer, "why")(report.models, many=True).data
        return Response(body)

    @extend_schema(
        operation_id="results_models",
        summary="List the language models, best score first",
        responses=ModelRowSerializer(many=True),
    )
    def models(self, request: Request, run_id: Any) -> Response:
        """Return a page of the leaderboard."""
        run = self.done(request, run_id)
        page = model_rows(run, read_cursor(request), read_limit(request))
        return _page(request, page, ModelRowSerializer)

    @extend_schema(
        operation_id="exports_consensus",
        tags=["exports"],
        summary="Take away the consensus as a benchmark",
        description="A ZIP with CSV, JSON Lines and a datasheet; it names no workers.",
        responses={(200, "application/zip"): {"type": "string", "format": "binary"}},
    )
    def consensus(self, request: Request, run_id: Any) -> StreamingHttpResponse:
        """Return what the crowd answers to each question, with support and dispersion."""
        run = self.done(request, run_id)
        return download(zip_chunks(consensus_report(run)), file_of(run, "consensus"), "zip")


def _page(request: Request, page: Page[Any], row: Any) -> Response:
    return Response(build_page_body(request, row(page.rows, many=True).data, page.next))


def _found(report: T | None) -> T:
    if report is None:
        raise Http404
    return report


def _report(request: Request, report: Any, about: Any, answer: Any) -> dict[str, Any]:
    answers = build_serializer(answer)(report.answers.rows, many=True).data
    return {**about(report).data, "answers": build_page_body(request, answers, report.answers.next)}
