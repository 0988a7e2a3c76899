"""Further waves of a question set, and a run against one of an earlier wave."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotations.answering.waves import WaveError, linkable, matched, unlink
from annotations.models import QuestionSet
from annotations.web.query import public_id
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import limit_of, slice_body, start_of
from annotations.web.rest.problems import ApiProblem, bad_field, bad_parameter
from annotations.web.rest.serializers import serializer_of
from annotations.web.scope import answered_set, editable
from evaluation import waves
from evaluation.api.done import CURSOR, LIMIT, DoneRunViewSet, PageSerializer
from evaluation.reports.waves import WavesReport, earlier_runs, waves_report
from evaluation.reports.waves.people import People, WorkerOfBoth
from evaluation.reports.waves.questions import QuestionDrift


class WaveSerializer(StrictSerializer):
    """What a further wave is called, and who is asked."""

    name = serializers.CharField(max_length=200)
    people = serializers.ChoiceField(
        choices=QuestionSet.WavePeople.choices,
        help_text="It holds when the wave is published; the settings of the collecting can say "
        "otherwise.",
    )
    with_models = serializers.BooleanField(
        default=False, help_text="Whether the replies of language models come along."
    )


class NewWaveSerializer(serializers.Serializer[Any]):
    """The wave that was made."""

    id = serializers.UUIDField(help_text="Of the new question set.")
    name = serializers.CharField()
    earlier_wave = serializers.UUIDField()
    people = serializers.ChoiceField(choices=QuestionSet.WavePeople.choices)
    questions = serializers.IntegerField()
    replies = serializers.IntegerField(help_text="Of language models that came along.")
    models = serializers.IntegerField(help_text="Language models whose replies came along.")


@extend_schema(tags=["question sets"])
class WaveViewSet(ApiViewSet):
    """Question sets that are asked again."""

    queryset = QuestionSet.objects.all()
    serializer_class = NewWaveSerializer

    @extend_schema(
        operation_id="question_sets_waves_create",
        summary="Ask a question set again: make a further wave of it",
        description="The same questions, texts and settings in a new set of the same owner and "
        "team, a draft until it is published. Answers, runs, experts and viewers stay where they "
        "are.",
        request=WaveSerializer,
        responses={201: NewWaveSerializer},
    )
    @repeatable
    def create(self, request: Request, set_id: UUID) -> Response:
        """Make the next wave."""
        answered_set(request, set_id)
        question_set = editable(request, QuestionSet.objects.all(), set_id)
        values = self.checked(WaveSerializer).validated_data
        try:
            made = waves.start(question_set, **values)
        except WaveError as error:
            if not error.field:
                raise ApiProblem("conflict", f"{error}.", reason=error.code) from error
            raise bad_field(error.field, str(error), error.code) from error
        wave = made.question_set
        version = wave.latest_version()
        told = {
            "id": wave.public_id,
            "name": wave.name,
            "earlier_wave": question_set.public_id,
            "people": wave.wave_people,
            "questions": version.questions.count() if version else 0,
            "replies": made.n_replies,
            "models": made.n_models,
        }
        return Response(
            NewWaveSerializer(told).data,
            status.HTTP_201_CREATED,
            headers={
                "Location": reverse(
                    "api:question-set-detail", args=[wave.public_id], request=request
                )
            },
        )


class LinkSerializer(StrictSerializer):
    """Which set is the wave before."""

    earlier_wave = serializers.UUIDField(help_text="A set of the same owner that you may edit.")
    with_models = serializers.BooleanField(
        default=False,
        help_text="Whether replies of language models to questions of the same text are copied.",
    )


class LinkedSerializer(serializers.Serializer[Any]):
    """The wave before a set, and how the questions of the two match by their ids."""

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


class BroughtSerializer(serializers.Serializer[Any]):
    """Replies of language models that came from the wave before."""

    replies = serializers.IntegerField()
    models = serializers.IntegerField()
    there = serializers.IntegerField(
        help_text="Replies to the same requests that were in the later wave; they stay."
    )


class LinkAndBroughtSerializer(LinkedSerializer):
    """The same, and the replies that came along."""

    brought = BroughtSerializer()


@extend_schema(tags=["question sets"])
class EarlierWaveViewSet(ApiViewSet):
    """The link of a set to the wave before."""

    queryset = QuestionSet.objects.all()
    serializer_class = LinkedSerializer

    @extend_schema(
        operation_id="question_sets_earlier_wave",
        summary="Read which set is the wave before, and how the questions match",
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Read the link."""
        question_set = answered_set(request, set_id)
        return Response(self._told(question_set, waves.wave_before(request, question_set)))

    @extend_schema(
        operation_id="question_sets_earlier_wave_link",
        summary="Link a set as a later wave of another",
        description="For sets that were imported or written apart. Questions are matched by their "
        "ids; one at least has to be in both. Nothing else of either set is changed.",
        request=LinkSerializer,
        responses={200: LinkAndBroughtSerializer},
    )
    def link(self, request: Request, set_id: UUID) -> Response:
        """Link it."""
        question_set = self._editable(request, set_id)
        values = self.checked(LinkSerializer).validated_data
        sets = linkable(request.user, question_set)
        earlier = sets.filter(public_id=values["earlier_wave"]).first()
        if earlier is None and values["earlier_wave"] != question_set.public_id:
            raise bad_field(
                "earlier_wave", "there is no such set of the same owner that you may edit"
            )
        try:
            _, brought = waves.link(
                question_set, earlier or question_set, with_models=values["with_models"]
            )
        except WaveError as error:
            raise bad_field("earlier_wave", str(error), error.code) from error
        told = self._told(question_set, earlier)
        return Response(told | {"brought": _brought(brought)})

    @extend_schema(
        operation_id="question_sets_earlier_wave_unlink",
        summary="Take the link to the wave before away",
        description="Both sets stay as they are. 409 where there is none, and for a wave that was "
        "made for the same or for other people and is not published yet.",
        responses={204: None},
    )
    def unlink(self, request: Request, set_id: UUID) -> Response:
        """Take it away."""
        try:
            unlink(self._editable(request, set_id))
        except WaveError as error:
            said = f"{capfirst(str(error))}."
            raise ApiProblem("conflict", said, reason=error.code) from error
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="question_sets_earlier_wave_replies",
        summary="Copy what language models replied in the wave before",
        description="Replies to questions of the same id and text, to be graded by the later "
        "crowd; no model is asked. What is there stays, and a second request copies nothing. 409 "
        "where the set is no later wave, or you do not see what came back in the wave before.",
        request=None,
        responses={200: BroughtSerializer},
    )
    @repeatable
    def replies(self, request: Request, set_id: UUID) -> Response:
        """Copy them."""
        try:
            later = self._editable(request, set_id)
            return Response(_brought(waves.bring_seen_replies(request, later)))
        except WaveError as error:
            said = f"{capfirst(str(error))}."
            raise ApiProblem("conflict", said, reason=error.code) from error

    def _editable(self, request: Request, set_id: UUID) -> QuestionSet:
        answered_set(request, set_id)
        return editable(request, QuestionSet.objects.all(), set_id)

    def _told(self, question_set: QuestionSet, earlier: QuestionSet | None) -> dict[str, Any]:
        told: dict[str, Any] = {"earlier_wave": earlier.public_id if earlier else None}
        match = matched(question_set, earlier) if earlier else None
        for name in ("same", "other_text", "only_later", "only_earlier"):
            told[name] = getattr(match, name) if match else []
        return told


def _brought(replies: waves.Replies) -> dict[str, int]:
    return {
        "replies": replies.n_replies,
        "models": replies.n_models,
        "there": replies.n_there,
    }


AboutPeople = serializer_of(People, without=("workers",))
AboutWaves = serializer_of(
    WavesReport,
    *("comparable", "n_moved", "n_measured", "n_facts"),
    *("n_tested", "n_moved_beyond_chance", "why_untested"),
    without=("people", "questions"),
)
WorkerOfBothSerializer = serializer_of(WorkerOfBoth, "change")
QuestionDriftSerializer = serializer_of(QuestionDrift, "times", "moved", "moved_beyond_chance")
WITH = OpenApiParameter(
    "with", UUID, description="A run of an earlier wave; without it that which counts there."
)


class WavesReportSerializer(AboutWaves):  # type: ignore[misc, valid-type]
    """Two waves, the earlier one first; people and questions have lists of their own."""

    people = AboutPeople()


class WorkersOfBothSerializer(PageSerializer):
    """People of both waves, greatest change first."""

    results = WorkerOfBothSerializer(many=True)


class QuestionDriftsSerializer(PageSerializer):
    """Questions of both waves, first those that moved, then the furthest beyond chance."""

    results = QuestionDriftSerializer(many=True)


@extend_schema(tags=["results"])
class WaveResultViewSet(DoneRunViewSet):
    """A run against one of an earlier wave."""

    @extend_schema(
        operation_id="results_waves",
        summary="Compare a run with an earlier wave",
        description="Test-retest agreement of the people of both (Pearson with its 95% interval, "
        "Spearman, intraclass correlation, mean change), how many consensus answers moved, and "
        "how the language models stand in each wave. 409 where no earlier wave is graded, or the "
        "reader sees none.",
        parameters=[WITH],
        responses=WavesReportSerializer,
    )
    def waves(self, request: Request, run_id: Any) -> Response:
        """Return both waves."""
        report = self._report(request, run_id)
        people = AboutPeople(report.people).data
        return Response({**AboutWaves(report).data, "people": people})

    @extend_schema(
        operation_id="results_waves_workers",
        summary="List the people of both waves with both scores",
        parameters=[WITH, CURSOR, LIMIT],
        responses=WorkersOfBothSerializer,
    )
    def workers(self, request: Request, run_id: Any) -> Response:
        """Return a page of people."""
        rows = self._report(request, run_id).people.workers
        return self._page(request, "wave-workers", rows, WorkerOfBothSerializer)

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
        responses=QuestionDriftsSerializer,
    )
    def questions(self, request: Request, run_id: Any) -> Response:
        """Return a page of questions."""
        rows = self._report(request, run_id).questions
        return self._page(request, "wave-questions", rows, QuestionDriftSerializer)

    def _page(self, request: Request, name: str, rows: list[Any], form: Any) -> Response:
        start, limit = start_of(request, name), limit_of(request)
        shown = form(rows[start : start + limit], many=True).data
        return Response(slice_body(request, name, shown, start, len(rows)))

    def _report(self, request: Request, run_id: Any) -> WavesReport:
        run = self.done(request, run_id)
        runs = earlier_runs(request, run)
        wanted = public_id(request.query_params, "with")
        if wanted is None:
            found = next(iter(runs), None)
        else:
            found = next((one for one in runs if one.public_id == wanted), None)
            if found is None:
                raise bad_parameter("with", "there is no such run of an earlier wave")
        if found is None:
            raise ApiProblem("no-results", "No earlier wave is graded.", state="none")
        return waves_report(found, run)
