"""Facts of a run: what people agree on, and what the answers of a worker or a model state."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.query import parse_public_id
from annotations.web.rest.paging import build_page_body, read_cursor, read_limit
from annotations.web.rest.serializers import build_serializer
from evaluation.grading.facts.report import (
    FactOfRun,
    FactOnQuestion,
    FactStanding,
    QuestionFacts,
    RunFacts,
    SilentReason,
    read_answer_facts,
    read_crowd_facts,
    read_question_facts,
    run_facts,
)
from evaluation.grading.facts.report.said import By
from evaluation.grading.results.report.models import model_row
from evaluation.grading.results.report.workers import worker_row
from evaluation.grading.results.rest import GradingViewSet
from evaluation.models import ExemplaryAnswer, Run
from evaluation.rest.done_runs import CURSOR, LIMIT, PageSerializer

FactOfRunSerializer = build_serializer(FactOfRun)
FactOnQuestionSerializer = build_serializer(FactOnQuestion)
FactStandingSerializer = build_serializer(FactStanding)
AboutQuestionFacts = build_serializer(QuestionFacts, "why")
AboutRunFacts = build_serializer(RunFacts, without=("silent",))
BESIDE = "Evidence beside the grades: no grade, score, alarm, payment or admission rests on it."


class FactsOfRunSerializer(PageSerializer):
    """What people state, in the order of the questions."""

    results = FactOfRunSerializer(many=True)


class RunFactsSerializer(AboutRunFacts):  # type: ignore[misc, valid-type]
    """What a run found fact by fact, and on how many questions it says nothing, by the reason."""

    looked = serializers.BooleanField(help_text="False for a run that did not look for facts.")
    silent = build_serializer(SilentReason, "why")(many=True)
    facts = FactsOfRunSerializer()


class FactsOfQuestionSerializer(AboutQuestionFacts):  # type: ignore[misc, valid-type]
    """What people state on a question; `why` says why there is nothing."""


class FactsOnQuestionsSerializer(PageSerializer):
    """What answers state, in the order of the questions."""

    results = FactOnQuestionSerializer(many=True)


class FactsOfAnswersSerializer(serializers.Serializer[Any]):
    """What somebody's facts come to, and each of them."""

    standing = FactStandingSerializer()
    facts = FactsOnQuestionsSerializer()


NOTHING = RunFacts(questions=0, spoken=0, agreed=0, contested=0, silent=[])


@extend_schema(tags=["results"])
class FactViewSet(GradingViewSet):
    """What people agree on, fact by fact, and how answers stand to it."""

    @extend_schema(
        operation_id="results_facts",
        summary="Read what people agree on and contest, fact by fact",
        description=f"{BESIDE} `looked` is false, and all else empty, for a run that did not look.",
        parameters=[
            CURSOR,
            LIMIT,
            OpenApiParameter(
                "question",
                {"type": "string", "format": "uuid"},
                description="Only the facts of this question.",
            ),
        ],
        responses=RunFactsSerializer,
    )
    def facts(self, request: Request, run_id: Any) -> Response:
        """Return the counts, and a page of values that people state."""
        run = self.done(request, run_id)
        found = run_facts(run)
        question = parse_public_id(request.query_params, "question", blank=True)
        page = read_crowd_facts(run, read_cursor(request), read_limit(request), question)
        rows = FactOfRunSerializer(page.rows, many=True).data
        silent = build_serializer(SilentReason, "why")((found or NOTHING).silent, many=True).data
        return Response(
            {
                **AboutRunFacts(found or NOTHING).data,
                "looked": found is not None,
                "silent": silent,
                "facts": build_page_body(request, rows, page.next),
            }
        )

    @extend_schema(
        operation_id="results_question_facts",
        summary="Read what people agree on and contest on a question",
        description=f"{BESIDE} Where the run says nothing of the question, `why` tells the reason.",
        responses=FactsOfQuestionSerializer,
    )
    def question(self, request: Request, run_id: Any, question: Any) -> Response:
        """Return what people agree on, and what they are divided on."""
        run = self.done(request, run_id)
        if not run.version.questions.filter(public_id=question).exists():
            raise Http404
        rows = ExemplaryAnswer.objects.filter(run=run, question__public_id=question)
        exemplar = rows.only("facts", "question_id").first()
        return Response(FactsOfQuestionSerializer(read_question_facts(run, exemplar)).data)

    @extend_schema(
        operation_id="results_worker_facts",
        summary="List the facts of a worker's answers beside the crowd's",
        description=BESIDE,
        parameters=[CURSOR, LIMIT],
        responses=FactsOfAnswersSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return what they come to, and a page of them."""
        run = self.done(request, run_id)
        row = worker_row(run, worker)
        return self._said(request, run, "worker", worker, row.facts if row else None)

    @extend_schema(
        operation_id="results_model_facts",
        summary="List the facts of a model's answers beside the crowd's",
        description=BESIDE,
        parameters=[CURSOR, LIMIT],
        responses=FactsOfAnswersSerializer,
    )
    def model(self, request: Request, run_id: Any, model: Any) -> Response:
        """Return what they come to, and a page of them."""
        run = self.done(request, run_id)
        row = model_row(run, model)
        return self._said(request, run, "model", model, row.facts if row else None)

    def _said(
        self, request: Request, run: Run, by: By, who: Any, standing: FactStanding | None
    ) -> Response:
        if standing is None:
            raise Http404
        page = read_answer_facts(run, by, who, read_cursor(request), read_limit(request))
        rows = FactOnQuestionSerializer(page.rows, many=True).data
        return Response(
            {
                "standing": FactStandingSerializer(standing).data,
                "facts": build_page_body(request, rows, page.next),
            }
        )
