"""Deciding about people: the queue, decisions and taking back, a run without the excluded."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Worker, rights
from annotations.web.query import choice, number
from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import limit_of, slice_body, start_of
from annotations.web.rest.problems import ApiProblem, bad_field
from annotations.web.rest.serializers import serializer_of
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import RefusedError, user_id
from evaluation.api.done import CURSOR, LIMIT, DoneRunViewSet, PageSerializer
from evaluation.api.runs import RUN, SECONDS_BETWEEN_LOOKS, RunSerializer
from evaluation.background import exclusions
from evaluation.models import Run, WorkerGrade
from evaluation.models.runs import LONGEST_NAME, LONGEST_NOTES
from evaluation.options import API, OptionError
from evaluation.reports.alarms import Mark
from evaluation.reports.triage import (
    Comparison,
    Decided,
    Preview,
    QueueRow,
    comparison,
    history_of,
    preview,
    queue_of,
    rows_of,
)
from evaluation.reports.triage.partners import Partner, partner_named, partners_of
from evaluation.triaging import (
    DECISIONS,
    LONGEST_REASON,
    DecidedMeanwhileError,
    NothingToTakeBackError,
    VerdictError,
    decide,
    take_back,
)
from evaluation.words.triage import REASONS

MOST = 10_000_000
VerdictSerializer = serializer_of(Decided)
AboutRow = serializer_of(QueueRow, without=("marks",))
SEEN = "The id of the newest row of the worker's history that you know, null for none. Where "
SEEN += "somebody decided since, 409 tells it. Left out, nothing is compared."


class QueueRowSerializer(AboutRow):  # type: ignore[misc, valid-type]
    """Somebody in the queue, with the alarms that name them."""

    marks = serializer_of(Mark, "word", "words")(many=True)


class QueuePageSerializer(PageSerializer):
    """Workers in the order in which they are looked at."""

    results = QueueRowSerializer(many=True)


class QueueSerializer(serializers.Serializer[Any]):
    """Who is worth looking at, and how many wait for a decision."""

    n = serializers.IntegerField(help_text="People in the queue.")
    n_open = serializers.IntegerField(help_text="Of whom nobody decided.")
    n_again = serializers.IntegerField(help_text="To be looked at again.")
    workers = QueuePageSerializer()


class TriagedSerializer(serializers.Serializer[Any]):
    """A worker with the evidence, and what was decided."""

    entry = QueueRowSerializer()
    partners = serializer_of(Partner)(many=True)
    comparison = serializer_of(Comparison)()
    history = VerdictSerializer(many=True)


class DecideSerializer(StrictSerializer):
    """A decision about a worker."""

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
    """What you know when you take something back."""

    seen = serializers.UUIDField(required=False, allow_null=True, help_text=SEEN)


class ApplySerializer(StrictSerializer):
    """The run that is started."""

    name = serializers.CharField(max_length=LONGEST_NAME, required=False, allow_blank=True)
    notes = serializers.CharField(max_length=LONGEST_NOTES, required=False, allow_blank=True)
    verdicts = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        help_text="The ids of the decisions that you know; 409 where these are others by now.",
    )


@extend_schema(tags=["results"])
class TriageViewSet(DoneRunViewSet):
    """Deciding about people; nothing is paid, rejected or graded by it."""

    # The queue is cut into pages by itself; a history is whole.
    pagination_class = None  # type: ignore[assignment]

    @extend_schema(
        operation_id="results_triage",
        summary="List who is worth looking at, the worst first",
        parameters=[
            OpenApiParameter("who", str, enum=["look", "everybody"], default="look"),
            OpenApiParameter("show", str, enum=["all", "open", "decided"], default="all"),
            CURSOR,
            LIMIT,
        ],
        responses=QueueSerializer,
    )
    def queue(self, request: Request, run_id: Any) -> Response:
        """Return a page of the queue with what was decided."""
        run = self.done(request, run_id)
        who = choice(request.query_params, "who", ("look", "everybody"), "look")
        show = choice(request.query_params, "show", ("all", "open", "decided"), "all")
        start, limit = start_of(request, "triage"), limit_of(request)
        queue = queue_of(run, everybody=who == "everybody")
        shown = queue.shown(show)
        rows = rows_of(run, queue, shown[start : start + limit])
        body = {
            "n": len(queue.workers),
            "n_open": queue.n_open,
            "n_again": queue.n_again,
            "workers": slice_body(
                request, "triage", QueueRowSerializer(rows, many=True).data, start, len(shown)
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
        responses=TriagedSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: UUID) -> Response:
        """Return why the worker is here, the evidence and the history."""
        run = self.done(request, run_id)
        about = self._worker(run, worker)
        partners = partners_of(run, about)
        asked = request.query_params.get("with", "")
        partner = partner_named(run, about, asked, partners) if asked else partners[0]
        if partner is None:
            raise Http404("there is nobody of the kind to compare with")
        page = number(request.query_params, "page", 1, MOST, blank=True) or 1
        queue = queue_of(run)
        found = {
            "entry": rows_of(run, queue, [worker])[0],
            "partners": partners,
            "comparison": comparison(run, about, partner, page),
            "history": history_of(run, worker),
        }
        return Response(TriagedSerializer(found).data)

    @extend_schema(
        operation_id="results_triage_decide",
        summary="Decide about a worker",
        description="The row is added to the worker's history; the same once more changes nothing.",
        request=DecideSerializer,
        responses=VerdictSerializer(many=True),
    )
    def decide(self, request: Request, run_id: Any, worker: UUID) -> Response:
        """Keep the decision, and return the history."""
        run = self._editable(request, run_id)
        about = self._worker(run, worker)
        values = dict(self.checked(DecideSerializer).validated_data)
        kind = values.pop("verdict")
        try:
            decide(run, about, request.user, kind, **values)
        except VerdictError as error:
            raise bad_field(error.field, str(error)) from None
        except DecidedMeanwhileError as error:
            raise _meanwhile(error) from None
        return Response(VerdictSerializer(history_of(run, worker), many=True).data)

    @extend_schema(
        operation_id="results_triage_undo",
        summary="Take back what counts of a worker",
        description="What was decided before counts again. 409 where nothing is decided.",
        request=TakeBackSerializer,
        responses=VerdictSerializer(many=True),
    )
    def undo(self, request: Request, run_id: Any, worker: UUID) -> Response:
        """Take it back, and return the history."""
        run = self._editable(request, run_id)
        about = self._worker(run, worker)
        values = self.checked(TakeBackSerializer).validated_data
        try:
            take_back(run, about, request.user, **values)
        except NothingToTakeBackError:
            raise ApiProblem("conflict", "Nothing is decided of this worker.") from None
        except DecidedMeanwhileError as error:
            raise _meanwhile(error) from None
        return Response(VerdictSerializer(history_of(run, worker), many=True).data)

    @extend_schema(
        operation_id="results_triage_preview",
        summary="Read what a run without the excluded would have left",
        responses=serializer_of(Preview, "said", "thin_said"),
    )
    def preview(self, request: Request, run_id: Any) -> Response:
        """Return who is left out, what remains, and the questions below 3 answers."""
        run = self.done(request, run_id)
        found = serializer_of(Preview, "said", "thin_said")(preview(run))
        return Response(found.data)

    @extend_schema(
        operation_id="results_triage_apply",
        summary="Start a run of the same settings without the excluded",
        parameters=[IDEMPOTENCY_KEY],
        request=ApplySerializer,
        responses={202: OpenApiResponse(RUN, "It waits for a worker; see Location.")},
    )
    @repeatable
    def apply(self, request: Request, run_id: Any) -> Response:
        """Start it."""
        run = self._editable(request, run_id)
        values = dict(self.checked(ApplySerializer).validated_data)
        shown = values.pop("verdicts", None)
        try:
            started = exclusions.apply(
                run, user_id(request), None if shown is None else [str(v) for v in shown], **values
            )
        except exclusions.NobodyExcludedError:
            raise ApiProblem("conflict", "Nobody is excluded.") from None
        except exclusions.ChangedMeanwhileError:
            raise ApiProblem("conflict", "The decisions are others by now.") from None
        except exclusions.OtherSettingsError:
            reason = "The run has settings of another version of the platform."
            raise ApiProblem("conflict", reason) from None
        except OptionError as error:
            options = self.kind_of(run).options
            said = (f"{API.sentence(options, one)}." for one in error.problems)
            raise ApiProblem("conflict", " ".join(said)) from None
        address = reverse("api:run-detail", args=[started.public_id])
        return Response(
            RunSerializer(started, context=self.get_serializer_context()).data,
            status.HTTP_202_ACCEPTED,
            headers={
                "Location": request.build_absolute_uri(address),
                "Retry-After": str(SECONDS_BETWEEN_LOOKS),
            },
        )

    def _editable(self, request: Request, run_id: Any) -> Run:
        run = self.done(request, run_id)
        if not rights(request.user, run.version.question_set).edit:
            raise RefusedError("change")
        return run

    def _worker(self, run: Run, worker: UUID) -> Worker:
        grade = WorkerGrade.objects.filter(run=run, worker__public_id=worker).only("worker")
        found = grade.select_related("worker").first()
        if found is None:
            raise Http404("the run has no such worker")
        return found.worker


def _meanwhile(error: DecidedMeanwhileError) -> ApiProblem:
    newest = error.newest
    said = f"{newest.decided_by.get_username()} decided meanwhile: {newest.get_kind_display()}."
    return ApiProblem("conflict", said, newest=str(newest.public_id))
