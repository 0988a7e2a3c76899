"""REST API: start and link waves of a question set, and compare a run with an earlier wave."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotations.answering.waves import (
    WaveError,
    list_linkable_sets,
    match_questions,
    remove_wave_link,
)
from annotations.models import QuestionSet
from annotations.web.query import parse_public_id
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_slice_body, read_limit, read_start_index
from annotations.web.rest.problems import ApiProblem, build_field_problem, build_parameter_problem
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_editable, get_set_with_answers
from evaluation.grading.results.pages import GradingViewSet
from evaluation.runs.rest.views import CURSOR, LIMIT, PageSerializer
from evaluation.waves import storage
from evaluation.waves.report.comparison import (
    QuestionDrift,
    WavesReport,
    build_waves_report,
    list_earlier_runs,
)
from evaluation.waves.report.scores import PairedWorker, WorkerComparison


class NewWaveSerializer(StrictSerializer):
    """Request body of a new wave: its name, and which workers it asks."""

    name = serializers.CharField(max_length=200)
    people = serializers.ChoiceField(
        choices=QuestionSet.WavePeople.choices,
        help_text="It holds when the wave is published; the settings of the collection can "
        "override it.",
    )
    with_models = serializers.BooleanField(
        default=False, help_text="Whether the replies of language models come along."
    )


class CreatedWaveSerializer(serializers.Serializer[Any]):
    """A new wave that was created, with the numbers of its questions and copied replies."""

    id = serializers.UUIDField(help_text="Of the new question set.")
    name = serializers.CharField()
    earlier_wave = serializers.UUIDField()
    people = serializers.ChoiceField(choices=QuestionSet.WavePeople.choices)
    questions = serializers.IntegerField()
    replies = serializers.IntegerField(help_text="Of language models that came along.")
    models = serializers.IntegerField(help_text="Language models whose replies came along.")


@extend_schema(tags=["question sets"])
class WaveViewSet(ApiViewSet):
    """API endpoint that creates the next wave of a question set."""

    queryset = QuestionSet.objects.all()
    serializer_class = CreatedWaveSerializer

    @extend_schema(
        operation_id="question_sets_waves_create",
        summary="Ask a question set again: make a further wave of it",
        description="The same questions, texts and settings in a new set of the same owner and "
        "team, a draft until it is published. Answers, runs, experts and viewers stay where they "
        "are.",
        request=NewWaveSerializer,
        responses={201: CreatedWaveSerializer},
    )
    @make_repeatable
    def create(self, request: Request, set_id: UUID) -> Response:
        """Create the next wave of a question set, and return it."""
        get_set_with_answers(request, set_id)
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        values = self.validate_body(NewWaveSerializer).validated_data
        try:
            new_wave = storage.create_wave(question_set, **values)
        except WaveError as error:
            if not error.field:
                raise ApiProblem("conflict", f"{error}.", reason=error.code) from error
            raise build_field_problem(error.field, str(error), error.code) from error
        wave = new_wave.question_set
        version = wave.latest_version()
        wave_values = {
            "id": wave.public_id,
            "name": wave.name,
            "earlier_wave": question_set.public_id,
            "people": wave.wave_people,
            "questions": version.questions.count() if version else 0,
            "replies": new_wave.n_replies,
            "models": new_wave.n_models,
        }
        return Response(
            CreatedWaveSerializer(wave_values).data,
            status.HTTP_201_CREATED,
            headers={
                "Location": reverse(
                    "api:question-set-detail", args=[wave.public_id], request=request
                )
            },
        )


class WaveLinkSerializer(StrictSerializer):
    """Request body with the question set that is the earlier wave."""

    earlier_wave = serializers.UUIDField(help_text="A set of the same owner that you may edit.")
    with_models = serializers.BooleanField(
        default=False,
        help_text="Whether replies of language models to questions of the same text are copied.",
    )


class EarlierWaveSerializer(serializers.Serializer[Any]):
    """Earlier wave of a question set, with the match of their questions by id."""

    earlier_wave = serializers.UUIDField(
        allow_null=True, help_text="null: none, or one that you do not see."
    )
    same = serializers.ListField(
        child=serializers.CharField(),
        help_text="Ids with the same text, or of which one set has none.",
    )
    other_text = serializers.ListField(
        child=serializers.CharField(), help_text="Ids of both, with another text."
    )
    only_later = serializers.ListField(child=serializers.CharField())
    only_earlier = serializers.ListField(child=serializers.CharField())


class CopiedRepliesSerializer(serializers.Serializer[Any]):
    """Numbers of language models' replies copied from the earlier wave."""

    replies = serializers.IntegerField()
    models = serializers.IntegerField()
    there = serializers.IntegerField(
        help_text="Replies to the same requests that were in the later wave; they stay."
    )


class EarlierWaveWithRepliesSerializer(EarlierWaveSerializer):
    """Earlier wave and question match, with the numbers of copied replies."""

    brought = CopiedRepliesSerializer()


@extend_schema(tags=["question sets"])
class EarlierWaveViewSet(ApiViewSet):
    """API endpoints for the link of a question set to its earlier wave."""

    queryset = QuestionSet.objects.all()
    serializer_class = EarlierWaveSerializer

    @extend_schema(
        operation_id="question_sets_earlier_wave",
        summary="Read which set is the wave before, and how the questions match",
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the earlier wave of a question set, and how their questions match."""
        question_set = get_set_with_answers(request, set_id)
        return Response(
            self._build_body(question_set, storage.load_earlier_wave(request, question_set))
        )

    @extend_schema(
        operation_id="question_sets_earlier_wave_link",
        summary="Link a set as a later wave of another",
        description="For sets that were imported or written apart. Questions are matched by their "
        "ids; one at least has to be in both. Nothing else of either set is changed.",
        request=WaveLinkSerializer,
        responses={200: EarlierWaveWithRepliesSerializer},
    )
    def link(self, request: Request, set_id: UUID) -> Response:
        """Link a question set to its earlier wave, and return the match of their questions."""
        question_set = self._get_editable_set(request, set_id)
        values = self.validate_body(WaveLinkSerializer).validated_data
        candidates = list_linkable_sets(request.user, question_set)
        earlier = candidates.filter(public_id=values["earlier_wave"]).first()
        if earlier is None and values["earlier_wave"] != question_set.public_id:
            raise build_field_problem(
                "earlier_wave", "there is no such set of the same owner that you may edit"
            )
        try:
            _, copied = storage.link_and_copy_replies(
                question_set, earlier or question_set, with_models=values["with_models"]
            )
        except WaveError as error:
            raise build_field_problem("earlier_wave", str(error), error.code) from error
        body = self._build_body(question_set, earlier)
        return Response(body | {"brought": _build_counts(copied)})

    @extend_schema(
        operation_id="question_sets_earlier_wave_unlink",
        summary="Take the link to the wave before away",
        description="Both sets stay as they are. 409 where there is none, and for a wave that was "
        "made for the same or for other people and is not published yet.",
        responses={204: None},
    )
    def unlink(self, request: Request, set_id: UUID) -> Response:
        """Remove the link of a question set to its earlier wave."""
        try:
            remove_wave_link(self._get_editable_set(request, set_id))
        except WaveError as error:
            sentence = f"{capfirst(str(error))}."
            raise ApiProblem("conflict", sentence, reason=error.code) from error
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="question_sets_earlier_wave_replies",
        summary="Copy what language models replied in the wave before",
        description="Replies to questions of the same id and text, to be graded by the later "
        "crowd; no model is asked. What is there stays, and a second request copies nothing. 409 "
        "where the set is no later wave, or you do not see what came back in the wave before.",
        request=None,
        responses={200: CopiedRepliesSerializer},
    )
    @make_repeatable
    def replies(self, request: Request, set_id: UUID) -> Response:
        """Copy model replies from the earlier wave, and return their number."""
        try:
            later = self._get_editable_set(request, set_id)
            return Response(_build_counts(storage.copy_visible_replies(request, later)))
        except WaveError as error:
            sentence = f"{capfirst(str(error))}."
            raise ApiProblem("conflict", sentence, reason=error.code) from error

    def _get_editable_set(self, request: Request, set_id: UUID) -> QuestionSet:
        """Return a question set that the user may edit; else raise 404 or RefusedError."""
        get_set_with_answers(request, set_id)
        return get_editable(request, QuestionSet.objects.all(), set_id)

    def _build_body(self, question_set: QuestionSet, earlier: QuestionSet | None) -> dict[str, Any]:
        """Return the body of an `EarlierWaveSerializer`; empty lists without an earlier wave."""
        body: dict[str, Any] = {"earlier_wave": earlier.public_id if earlier else None}
        match = match_questions(question_set, earlier) if earlier else None
        for name in ("same", "other_text", "only_later", "only_earlier"):
            body[name] = getattr(match, name) if match else []
        return body


def _build_counts(replies: storage.CopyCounts) -> dict[str, int]:
    """Return the numbers of copied replies as the body of a `CopiedRepliesSerializer`."""
    return {
        "replies": replies.n_replies,
        "models": replies.n_models,
        "there": replies.n_there,
    }


AboutPeople = build_serializer(WorkerComparison, without=("workers",))
AboutWaves = build_serializer(
    WavesReport,
    *("comparable", "n_moved", "n_measured", "n_facts"),
    *("n_tested", "n_moved_beyond_chance", "why_untested"),
    without=("people", "questions"),
)
WorkerOfBothSerializer = build_serializer(PairedWorker, "change")
QuestionDriftSerializer = build_serializer(QuestionDrift, "times", "moved", "moved_beyond_chance")
WITH = OpenApiParameter(
    "with", UUID, description="A run of an earlier wave; without it that which counts there."
)


class WavesReportSerializer(AboutWaves):  # type: ignore[misc, valid-type]
    """Comparison of two waves, the earlier first; workers and questions have separate lists."""

    people = AboutPeople()


class PairedWorkersPageSerializer(PageSerializer):
    """A page of the workers who took part in both waves; greatest change first."""

    results = WorkerOfBothSerializer(many=True)


class QuestionDriftsPageSerializer(PageSerializer):
    """A page of the questions of both waves, with the drift of their answers."""

    results = QuestionDriftSerializer(many=True)


@extend_schema(tags=["results"])
class WaveResultViewSet(GradingViewSet):
    """API endpoints that compare a run with a run of an earlier wave."""

    @extend_schema(
        operation_id="results_waves",
        summary="Compare a run with an earlier wave",
        description="Test-retest agreement of the people of both (Pearson with its 95% interval, "
        "Spearman, intraclass correlation, mean change), how many consensus answers moved, and "
        "the ranks of the language models in each wave. 409 where no earlier wave is graded, or "
        "the "
        "reader sees none.",
        parameters=[WITH],
        responses=WavesReportSerializer,
    )
    def waves(self, request: Request, run_id: Any) -> Response:
        """Return the comparison of both waves, without workers and questions."""
        report = self._load_report(request, run_id)
        people = AboutPeople(report.people).data
        return Response({**AboutWaves(report).data, "people": people})

    @extend_schema(
        operation_id="results_waves_workers",
        summary="List the people of both waves with both scores",
        parameters=[WITH, CURSOR, LIMIT],
        responses=PairedWorkersPageSerializer,
    )
    def workers(self, request: Request, run_id: Any) -> Response:
        """Return a page of the workers of both waves."""
        rows = self._load_report(request, run_id).people.workers
        return self._paginate(request, "wave-workers", rows, WorkerOfBothSerializer)

    @extend_schema(
        operation_id="results_waves_questions",
        summary="List how far the consensus moved between two waves",
        description="`distance` is 1 less the cosine of the exemplary answers, `by_chance` what "
        "two samples of one crowd of these sizes have on average; `moved` is true from twice of "
        "that on, a rule of thumb. `moved_beyond_chance` is a permutation test of the mean "
        "answers, with `shift.adjusted` (Benjamini-Hochberg) at most .05; null where it is not "
        "tested, of which `why_untested` of the report says why. `facts` are those on which people "
        "agree otherwise.",
        parameters=[WITH, CURSOR, LIMIT],
        responses=QuestionDriftsPageSerializer,
    )
    def questions(self, request: Request, run_id: Any) -> Response:
        """Return a page of the questions of both waves, with their drift."""
        rows = self._load_report(request, run_id).questions
        return self._paginate(request, "wave-questions", rows, QuestionDriftSerializer)

    def _paginate(self, request: Request, name: str, rows: list[Any], serializer: Any) -> Response:
        """Return the response with the page of rows that the query selects."""
        start, limit = read_start_index(request, name), read_limit(request)
        results = serializer(rows[start : start + limit], many=True).data
        return Response(build_slice_body(request, name, results, start, len(rows)))

    def _load_report(self, request: Request, run_id: Any) -> WavesReport:
        """Return the comparison with the run of the query, else with the first earlier run.

        Raises 400 for an unknown run, 409 without a graded earlier wave.
        """
        run = self.get_finished_run(request, run_id)
        runs = list_earlier_runs(request, run)
        earlier_id = parse_public_id(request.query_params, "with")
        if earlier_id is None:
            earlier_run = next(iter(runs), None)
        else:
            earlier_run = next(
                (candidate for candidate in runs if candidate.public_id == earlier_id), None
            )
            if earlier_run is None:
                raise build_parameter_problem("with", "there is no such run of an earlier wave")
        if earlier_run is None:
            raise ApiProblem("no-results", "No earlier wave is graded.", state="none")
        return build_waves_report(earlier_run, run)
