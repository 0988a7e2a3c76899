"""REST API to decide about the workers of a run, one at a time or all undecided ones in a batch."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Worker, rights
from annotations.web.query import parse_choice, parse_flag, parse_number
from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_slice_body, read_limit, read_start_index
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.rest.serializers import build_serializer
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import RefusedError, get_user_id
from evaluation.core.messages.reasons import REASONS
from evaluation.core.options import API, OptionError
from evaluation.grading.alarms.report import Mark
from evaluation.grading.alarms.report.marks import read_marks_and_naming_alarms
from evaluation.grading.results.pages import GradingViewSet
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.models.runs import LONGEST_NAME, LONGEST_NOTES
from evaluation.runs.background import exclusions
from evaluation.runs.reports.verdicts import (
    AcceptedBatch,
    WorkerDecision,
    load_active_and_history,
    load_decision_history,
)
from evaluation.runs.rest.runs import RUN, RunSerializer
from evaluation.runs.rest.views import (
    CURSOR,
    LIMIT,
    SECONDS_BETWEEN_LOOKS,
    PageSerializer,
    build_conflict_problem,
)
from evaluation.triage.batches import (
    NoWorkersLeftError,
    WorkersChangedError,
    accept_undecided,
    take_back_accepted_batch,
)
from evaluation.triage.report.evidence import (
    AnswerComparison,
    ComparisonPartner,
    compare_answers,
    find_partner_by_key,
    find_partners,
)
from evaluation.triage.report.exclusion import ExclusionPreview, preview_exclusion
from evaluation.triage.report.queue import (
    CONTRAST,
    REVIEW,
    QueueOrder,
    QueueRow,
    UndecidedWorkers,
    WorkerScope,
    find_undecided_workers,
    load_queue,
    load_queue_rows,
)
from evaluation.triage.storage import (
    DECISIONS,
    LONGEST_REASON,
    BatchUndo,
    DecidedMeanwhileError,
    NothingToTakeBackError,
    VerdictError,
    decide_on_worker,
    list_accepted_batches,
    take_back_verdict,
)

MAX_PAGE = 10_000_000
VerdictSerializer = build_serializer(WorkerDecision)
AboutRow = build_serializer(QueueRow, without=("marks",))
SEEN = "The id of the newest row of the worker's history that you know, null for none. Where "
SEEN += "there was a decision since, the response is 409. Left out, nothing is compared."


class QueueRowSerializer(AboutRow):  # type: ignore[misc, valid-type]
    """A worker in the triage queue, with the alarms that name this worker."""

    marks = build_serializer(Mark, "word", "words")(many=True)


class QueuePageSerializer(PageSerializer):
    """One page of the triage queue: workers in the order to review."""

    results = QueueRowSerializer(many=True)


class QueueSerializer(serializers.Serializer[Any]):
    """Triage queue of a run: workers to review, and the number without a decision."""

    n = serializers.IntegerField(help_text="People in the queue.")
    n_open = serializers.IntegerField(help_text="Undecided workers.")
    n_again = serializers.IntegerField(help_text="To review again.")
    workers = QueuePageSerializer()


class ReviewedWorkerSerializer(serializers.Serializer[Any]):
    """A worker under review: evidence, reasons and the decisions so far."""

    entry = QueueRowSerializer()
    partners = build_serializer(ComparisonPartner)(many=True)
    comparison = build_serializer(AnswerComparison)()
    history = VerdictSerializer(many=True)


class NewVerdictSerializer(StrictSerializer):
    """Request body of a decision about a worker: accept, look again or exclude."""

    verdict = serializers.ChoiceField(choices=[kind.value for kind in DECISIONS])
    category = serializers.ChoiceField(
        choices=list(REASONS), required=False, help_text="Why; needed with exclude."
    )
    reason = serializers.CharField(
        max_length=LONGEST_REASON,
        required=False,
        allow_blank=True,
        help_text="In your own words; needed with the category own.",
    )
    rejects = serializers.BooleanField(
        default=False, help_text="Whether the work is refused on the panel, too."
    )
    seen = serializers.UUIDField(required=False, allow_null=True, help_text=SEEN)


class TakeBackSerializer(StrictSerializer):
    """Request body to take a decision back: the id of the verdict that the user saw last."""

    seen = serializers.UUIDField(required=False, allow_null=True, help_text=SEEN)


class ExclusionRunSerializer(StrictSerializer):
    """Request body to start a run without the excluded workers: its name and notes."""

    name = serializers.CharField(max_length=LONGEST_NAME, required=False, allow_blank=True)
    notes = serializers.CharField(max_length=LONGEST_NOTES, required=False, allow_blank=True)
    verdicts = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        help_text="The ids of the decisions that you know; 409 where these are others by now.",
    )


@extend_schema(tags=["results"])
class TriageViewSet(GradingViewSet):
    """API endpoints to accept, review again or exclude workers of a run; no payment is made."""

    # The action `queue` pages its own list; a history is sent whole.
    pagination_class = None  # type: ignore[assignment]

    @extend_schema(
        operation_id="results_triage",
        summary="List the workers to review, the worst first",
        parameters=[
            OpenApiParameter("who", str, enum=["look", "everybody"], default="look"),
            OpenApiParameter("show", str, enum=["all", "open", "decided"], default="all"),
            OpenApiParameter(
                "order",
                str,
                enum=[REVIEW, CONTRAST],
                default=REVIEW,
                description="By alarms and ranks, or by the lowest question contrast.",
            ),
            CURSOR,
            LIMIT,
        ],
        responses=QueueSerializer,
    )
    def queue(self, request: Request, run_id: Any) -> Response:
        """Return a page of the workers to review, with the decisions so far."""
        run = self.get_finished_run(request, run_id)
        scope = parse_choice(request.query_params, "who", ("look", "everybody"), "look")
        show = parse_choice(request.query_params, "show", ("all", "open", "decided"), "all")
        start, limit = read_start_index(request, "triage"), read_limit(request)
        order = parse_choice(request.query_params, "order", (REVIEW, CONTRAST), REVIEW)
        queue = load_queue(run, everybody=scope == "everybody", order=cast(QueueOrder, order))
        selected = queue.select_workers(show)
        rows = load_queue_rows(run, queue, selected[start : start + limit])
        body = {
            "n": len(queue.workers),
            "n_open": queue.n_open,
            "n_again": queue.n_again,
            "workers": build_slice_body(
                request, "triage", QueueRowSerializer(rows, many=True).data, start, len(selected)
            ),
        }
        return Response(body)

    @extend_schema(
        operation_id="results_triage_worker",
        summary="Read a worker with the answers side by side",
        description="`with` is the `key` of a partner, or the id of any other worker of the run.",
        parameters=[
            OpenApiParameter("with", str),
            OpenApiParameter("page", {"type": "integer", "minimum": 1, "default": 1}),
        ],
        responses=ReviewedWorkerSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: UUID) -> Response:
        """Return a worker's reasons for review, the evidence and the decision history."""
        run = self.get_finished_run(request, run_id)
        subject = self._get_worker_or_404(run, worker)
        marks, naming = read_marks_and_naming_alarms(run, subject)
        partners = find_partners(run, subject, naming)
        key = request.query_params.get("with", "")
        partner = find_partner_by_key(run, subject, key, partners) if key else partners[0]
        if partner is None:
            raise Http404("there is no such worker to compare with")
        page = parse_number(request.query_params, "page", 1, MAX_PAGE, blank=True) or 1
        decided, history = load_active_and_history(run, worker)
        queue = load_queue(run, decided=decided, marks=marks)
        report = {
            "entry": load_queue_rows(run, queue, [worker])[0],
            "partners": partners,
            "comparison": compare_answers(run, subject, partner, page),
            "history": history,
        }
        return Response(ReviewedWorkerSerializer(report).data)

    @extend_schema(
        operation_id="results_triage_decide",
        summary="Decide about a worker",
        description="The row is added to the worker's history; the same once more changes nothing.",
        request=NewVerdictSerializer,
        responses=VerdictSerializer(many=True),
    )
    def decide(self, request: Request, run_id: Any, worker: UUID) -> Response:
        """Store a decision about a worker and return the worker's decision history."""
        run = self._get_editable_run(request, run_id)
        subject = self._get_worker_or_404(run, worker)
        values = dict(self.validate_body(NewVerdictSerializer).validated_data)
        kind = values.pop("verdict")
        try:
            decide_on_worker(run, subject, request.user, kind, **values)
        except VerdictError as error:
            raise build_field_problem(error.field, str(error)) from None
        except DecidedMeanwhileError as error:
            raise _build_conflict(error) from None
        return Response(VerdictSerializer(load_decision_history(run, worker), many=True).data)

    @extend_schema(
        operation_id="results_triage_undo",
        summary="Take back what counts of a worker",
        description="What was decided before counts again. 409 where nothing is decided.",
        request=TakeBackSerializer,
        responses=VerdictSerializer(many=True),
    )
    def undo(self, request: Request, run_id: Any, worker: UUID) -> Response:
        """Take back a worker's latest decision and return the worker's decision history."""
        run = self._get_editable_run(request, run_id)
        subject = self._get_worker_or_404(run, worker)
        values = self.validate_body(TakeBackSerializer).validated_data
        try:
            take_back_verdict(run, subject, request.user, **values)
        except NothingToTakeBackError:
            raise ApiProblem("conflict", "Nothing is decided of this worker.") from None
        except DecidedMeanwhileError as error:
            raise _build_conflict(error) from None
        return Response(VerdictSerializer(load_decision_history(run, worker), many=True).data)

    @extend_schema(
        operation_id="results_triage_preview",
        summary="Read what a run without the excluded would have left",
        responses=build_serializer(ExclusionPreview, "said", "thin_said"),
    )
    def preview(self, request: Request, run_id: Any) -> Response:
        """Return the workers to leave out, what remains, and the questions below 3 answers."""
        run = self.get_finished_run(request, run_id)
        serializer = build_serializer(ExclusionPreview, "said", "thin_said")(preview_exclusion(run))
        return Response(serializer.data)

    @extend_schema(
        operation_id="results_triage_apply",
        summary="Start a run of the same settings without the excluded",
        parameters=[IDEMPOTENCY_KEY],
        request=ExclusionRunSerializer,
        responses={202: OpenApiResponse(RUN, "The run is queued; see Location.")},
    )
    @make_repeatable
    def apply(self, request: Request, run_id: Any) -> Response:
        """Start a run without the excluded workers, and return it."""
        run = self._get_editable_run(request, run_id)
        values = dict(self.validate_body(ExclusionRunSerializer).validated_data)
        # Without ids the client accepts whatever is decided now.
        seen_verdicts = values.pop("verdicts", None)
        try:
            new_run = exclusions.start_run_without_excluded(
                run,
                get_user_id(request),
                None if seen_verdicts is None else [str(verdict) for verdict in seen_verdicts],
                **values,
            )
        except exclusions.NoExclusionsError:
            raise ApiProblem("conflict", "No worker is excluded.") from None
        except exclusions.StaleDecisionsError:
            raise ApiProblem("conflict", "The decisions are others by now.") from None
        except exclusions.OtherSettingsError:
            reason = "The run has settings of another version of the platform."
            raise ApiProblem("conflict", reason) from None
        except OptionError as error:
            options = self.get_kind(run).options
            sentences = (
                f"{API.format_field_problem(options, problem)}." for problem in error.problems
            )
            raise ApiProblem("conflict", " ".join(sentences)) from None
        link = reverse("api:run-detail", args=[new_run.public_id])
        return Response(
            RunSerializer(new_run, context=self.get_serializer_context()).data,
            status.HTTP_202_ACCEPTED,
            headers={
                "Location": request.build_absolute_uri(link),
                "Retry-After": str(SECONDS_BETWEEN_LOOKS),
            },
        )

    def _get_editable_run(self, request: Request, run_id: Any) -> Run:
        """Return a finished run that the user may edit; else raise 404 or RefusedError."""
        run = self.get_finished_run(request, run_id)
        if not rights(request.user, run.version.question_set).edit:
            raise RefusedError("change")
        return run

    def _get_worker_or_404(self, run: Run, worker: UUID) -> Worker:
        """Return the worker with this public id and a grade in the run; raise Http404 otherwise."""
        grades = WorkerGrade.objects.filter(run=run, worker__public_id=worker).only("worker")
        worker_grade = grades.select_related("worker").first()
        if worker_grade is None:
            raise Http404("the run has no such worker")
        return worker_grade.worker


def _build_conflict(error: DecidedMeanwhileError) -> ApiProblem:
    """Return the 409 problem that another user decided: who, what, and the verdict's id."""
    newest = error.newest
    sentence = f"{newest.decided_by.get_username()} decided meanwhile: {newest.get_kind_display()}."
    return ApiProblem("conflict", sentence, newest=str(newest.public_id))


SCOPES = ("everybody", "look")
SCOPE_HELP = "All workers of the run, or only those to review."
ALARMS_HELP = "Whether workers named by an alarm or a notice are accepted too."
TogetherSerializer = build_serializer(AcceptedBatch)


@add_renamed_keys(said="message")
class UndecidedWorkersSerializer(serializers.Serializer[Any]):
    """Workers that one batch would accept, those who stay open, and earlier batches."""

    n = serializers.IntegerField(help_text="People who would be accepted.")
    n_left_out = serializers.IntegerField(
        help_text="Who stays open because an alarm or a notice names them."
    )
    n_again = serializers.IntegerField(help_text="Workers who stay open, to review again.")
    n_decided = serializers.IntegerField(help_text="Who is accepted or excluded already.")
    said = serializers.CharField(help_text="The same in a sentence.")
    seen = serializers.CharField(help_text="Identifies exactly these people; send it back.")
    left_out = QueueRowSerializer(many=True, help_text="The first 50 who stay open.")
    accepted = TogetherSerializer(many=True)


class NewBatchSerializer(StrictSerializer):
    """Request body to accept a batch: the workers as the user saw them."""

    who = serializers.ChoiceField(choices=SCOPES, default="everybody", help_text=SCOPE_HELP)
    alarms = serializers.BooleanField(default=False, help_text=ALARMS_HELP)
    seen = serializers.CharField(
        max_length=64, help_text="`seen` of the answer to GET; 409 where it is others by now."
    )


@extend_schema(tags=["results"])
class BatchViewSet(GradingViewSet):
    """API endpoints to accept all undecided workers of a run in one batch; no payment is made."""

    pagination_class = None  # type: ignore[assignment]

    @extend_schema(
        operation_id="results_triage_rest",
        summary="List the workers that one request would accept, and those that stay open",
        parameters=[
            OpenApiParameter(
                "who", str, enum=list(SCOPES), default="everybody", description=SCOPE_HELP
            ),
            OpenApiParameter("alarms", bool, default=False, description=ALARMS_HELP),
        ],
        responses=UndecidedWorkersSerializer,
    )
    def rest(self, request: Request, run_id: Any) -> Response:
        """Return the workers that a batch would accept, and the earlier batches."""
        run = self.get_finished_run(request, run_id)
        scope = cast(WorkerScope, parse_choice(request.query_params, "who", SCOPES, "everybody"))
        undecided = find_undecided_workers(
            run, scope, with_alarms=parse_flag(request.query_params, "alarms")
        )
        return Response(_build_undecided_body(undecided))

    @extend_schema(
        operation_id="results_triage_accept",
        summary="Accept everybody else",
        description="The same people once more by the same account change nothing.",
        parameters=[IDEMPOTENCY_KEY],
        request=NewBatchSerializer,
        responses={201: TogetherSerializer},
    )
    @make_repeatable
    def accept(self, request: Request, run_id: Any) -> Response:
        """Accept the undecided workers; return the batch, whose id is needed to take it back."""
        run = self._get_editable_run(request, run_id)
        values = self.validate_body(NewBatchSerializer).validated_data
        try:
            batch = accept_undecided(
                run, request.user, values["seen"], values["who"], with_alarms=values["alarms"]
            )
        except NoWorkersLeftError:
            raise build_conflict_problem("nobody_left") from None
        except WorkersChangedError as error:
            raise build_conflict_problem("people_changed", {"newest": error.rest.seen}) from None
        return Response(TogetherSerializer(batch).data, status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="results_triage_accept_undo",
        summary="Take back what one request accepted",
        description="Later decisions about single workers stay. 409 where nothing is left.",
        request=None,
        responses=build_serializer(BatchUndo),
    )
    def take_back(self, request: Request, run_id: Any, together: UUID) -> Response:
        """Take back a batch of acceptances and return the numbers of workers concerned."""
        run = self._get_editable_run(request, run_id)
        try:
            taken_back = take_back_accepted_batch(run, request.user, together)
        except WorkerVerdict.DoesNotExist:
            raise Http404("nothing of that id was accepted in the run") from None
        except NothingToTakeBackError:
            raise build_conflict_problem("nothing_to_take_back") from None
        return Response(build_serializer(BatchUndo)(taken_back).data)

    def _get_editable_run(self, request: Request, run_id: Any) -> Run:
        """Return a finished run that the user may edit; else raise 404 or RefusedError."""
        run = self.get_finished_run(request, run_id)
        if not rights(request.user, run.version.question_set).edit:
            raise RefusedError("change")
        return run


def _build_undecided_body(undecided: UndecidedWorkers) -> dict[str, Any]:
    """Return the body of an `UndecidedWorkersSerializer`, with 50 workers who stay open."""
    message = API.format_message(undecided.said)
    return {
        "n": undecided.n,
        "n_left_out": undecided.n_left_out,
        "n_again": len(undecided.again),
        "n_decided": undecided.n_decided,
        "message": message,
        "said": message,
        "seen": undecided.seen,
        "left_out": QueueRowSerializer(undecided.left_rows, many=True).data,
        "accepted": TogetherSerializer(list_accepted_batches(undecided.run), many=True).data,
    }
