"""REST API views of a run's results, and of comparisons of models and runs."""

from __future__ import annotations

from typing import Any, TypeVar
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.downloads import build_download_response
from annotations.web.paging import Page
from annotations.web.query import parse_choice, parse_public_id
from annotations.web.rest.paging import (
    build_page_body,
    build_slice_body,
    read_cursor,
    read_limit,
    read_start_index,
)
from annotations.web.rest.serializers import build_serializer
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.grading.results.consensus_files import iterate_consensus_zip
from evaluation.grading.results.pages import OF_ALARM, GradingViewSet, read_alarm_key
from evaluation.grading.results.report.against import RunComparison, build_run_comparison
from evaluation.grading.results.report.changes import WhatIf, WorkerChange, build_what_if
from evaluation.grading.results.report.comparisons import (
    PAIRS_SHOWN,
    ComparisonsReport,
    ModelPair,
    PairReport,
    build_comparisons_report,
    build_pair_report,
)
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.grading.results.report.models import ModelRow, read_model_rows
from evaluation.grading.results.report.questions import (
    ORDERS,
    ModelAnswer,
    QuestionAnswer,
    QuestionReport,
    QuestionRow,
    build_question_report,
    read_question_rows,
)
from evaluation.grading.results.report.run import Ceiling
from evaluation.grading.results.report.workers import (
    WorkerAnswer,
    WorkerReport,
    WorkerRow,
    build_worker_report,
    read_worker_rows,
)
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.about import build_run_file_name
from evaluation.runs.rest.runs import REPORT
from evaluation.runs.rest.views import CURSOR, LIMIT, PageSerializer
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
        """Return a run's report in its run type's form, without lists of workers or questions."""
        run = self.get_finished_run(request, run_id, summary=RunSummary)
        report = self.get_kind(run).load_result(run)
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
        run = self.get_finished_run(request, run_id)
        # PostgreSQL refuses a text with a NUL.
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
        run = self.get_finished_run(request, run_id)
        report = _get_or_404(
            build_worker_report(run, worker, read_cursor(request), read_limit(request))
        )
        return Response(_build_body_with_answers(request, report, AboutWorker, WorkerAnswer))

    @extend_schema(
        operation_id="results_worker_without",
        summary="See how the run would be without a worker",
        description="Computed at once, as a run of the same settings without the worker would; "
        "nothing is stored. If that would be slow, or differ from a run, `reason` is a code and "
        "`why` its description; all else is empty then, and a run with the "
        "worker in `exclude_workers` finds it.",
        responses=WhatIfSerializer,
    )
    def without(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return how ranks would change if this worker were excluded as well."""
        run = self.get_finished_run(request, run_id)
        return Response(WhatIfSerializer(_get_or_404(build_what_if(run, worker))).data)

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
        run = self.get_finished_run(request, run_id)
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
        run = self.get_finished_run(request, run_id)
        report = _get_or_404(
            build_question_report(run, question, read_cursor(request), read_limit(request))
        )
        body = _build_body_with_answers(request, report, AboutQuestion, QuestionAnswer)
        body["models"] = build_serializer(ModelAnswer, "why")(report.models, many=True).data
        return Response(body)

    @extend_schema(
        operation_id="results_models",
        summary="List the language models, best score first",
        responses=ModelRowSerializer(many=True),
    )
    def models(self, request: Request, run_id: Any) -> Response:
        """Return a page of models, best score first."""
        run = self.get_finished_run(request, run_id)
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
        run = self.get_finished_run(request, run_id)
        return build_download_response(
            iterate_consensus_zip(build_consensus_report(run)),
            build_run_file_name(run, "consensus"),
            "zip",
        )


def _respond_with_page(request: Request, page: Page[Any], row: Any) -> Response:
    """Return the response with one page of a list; `row` is the serializer of its rows."""
    return Response(build_page_body(request, row(page.rows, many=True).data, page.next))


def _get_or_404(report: T | None) -> T:
    """Return the report, or raise 404 if it is None."""
    if report is None:
        raise Http404
    return report


def _build_body_with_answers(
    request: Request, report: Any, about: Any, answer: Any
) -> dict[str, Any]:
    """Return the response body of a report with one page of its answers.

    `about` is the serializer of the report without answers, `answer` the record of an answer.
    """
    answers = build_serializer(answer)(report.answers.rows, many=True).data
    return {**about(report).data, "answers": build_page_body(request, answers, report.answers.next)}


ModelPairSerializer = build_serializer(ModelPair, "better", "why")
AboutComparisons = build_serializer(ComparisonsReport, without=("pairs",))
AboutPair = build_serializer(PairReport, without=("pair",))
AboutAgainst = build_serializer(RunComparison, without=("workers",))
WorkerChangeSerializer = build_serializer(WorkerChange)


class ComparisonsReportSerializer(AboutComparisons):  # type: ignore[misc, valid-type]
    """Pairs of models compared in a run, greatest score difference first."""

    pairs = ModelPairSerializer(many=True)


class PairReportSerializer(AboutPair):  # type: ignore[misc, valid-type]
    """Two models, and the questions with the largest differences in both directions."""

    pair = ModelPairSerializer()


class WorkerChangesSerializer(PageSerializer):
    """A page of the workers of both runs, largest change first."""

    results = WorkerChangeSerializer(many=True)


class AgainstReportSerializer(AboutAgainst):  # type: ignore[misc, valid-type]
    """Comparison of two runs of a question set; the earlier run comes first."""

    workers = WorkerChangesSerializer()


@extend_schema(tags=["results"])
class ComparisonViewSet(GradingViewSet):
    """API endpoints that compare language models of a run, or two runs."""

    @extend_schema(
        operation_id="results_comparisons",
        summary="Compare the language models pair by pair",
        description="Mean difference on common questions with its 95% interval, and p after "
        "Holm's correction for all pairs; `better` names the model that is better by more than "
        f"chance. With `model` its pairs, itself first. Without it all pairs, or, of more than "
        f"{PAIRS_SHOWN}, those with the best model, which `of` then names.",
        parameters=[
            OpenApiParameter("model", UUID, description="The id of a language model."),
            OpenApiParameter(
                "correction",
                str,
                enum=list(CORRECTED_BY),
                default=HOLM,
                description="Of p for the number of pairs, in place of Holm's.",
            ),
        ],
        responses=ComparisonsReportSerializer,
    )
    def comparisons(self, request: Request, run_id: Any) -> Response:
        """Return the pairs of models with score differences, intervals and p-values."""
        run = self.get_finished_run(request, run_id)
        correction: Any = parse_choice(request.query_params, "correction", CORRECTED_BY, HOLM)
        report = build_comparisons_report(
            run, parse_public_id(request.query_params, "model"), correction
        )
        if report is None:
            raise Http404
        pairs = ModelPairSerializer(report.pairs, many=True).data
        return Response({**AboutComparisons(report).data, "pairs": pairs})

    @extend_schema(
        operation_id="results_comparison",
        summary="Read where two language models differ",
        description="The questions on which either is better by most, with both answers.",
        responses=PairReportSerializer,
    )
    def comparison(self, request: Request, run_id: Any, first: UUID, second: UUID) -> Response:
        """Return one pair of models, and the questions on which their scores differ most."""
        report = build_pair_report(self.get_finished_run(request, run_id), first, second)
        if report is None:
            raise Http404
        pair = ModelPairSerializer(report.pair).data
        return Response({**AboutPair(report).data, "pair": pair})

    @extend_schema(
        operation_id="results_against",
        summary="Compare a run with another one of its question set",
        description="What changed (answers, parameters, embedding) and the effect; the earlier "
        "run is first, whichever is named first. Both must be done.",
        parameters=[CURSOR, LIMIT],
        responses=AgainstReportSerializer,
    )
    def against(self, request: Request, run_id: Any, other_id: UUID) -> Response:
        """Return the comparison of two runs, with a page of the workers of both."""
        run = self.get_finished_run(request, run_id)
        of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=GRADING)
        other = self.get_finished_run(request, other_id, of_set.exclude(pk=run.pk))
        start, limit = read_start_index(request, "moved"), read_limit(request)
        report = build_run_comparison(run, other)
        rows = WorkerChangeSerializer(report.workers[start : start + limit], many=True).data
        workers = build_slice_body(request, "moved", rows, start, len(report.workers))
        return Response({**AboutAgainst(report).data, "workers": workers})
