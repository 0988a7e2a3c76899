"""REST API views of facts: values the workers agree on, and values in answers."""

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
    build_run_facts,
    read_answer_facts,
    read_crowd_facts,
    read_question_facts,
)
from evaluation.grading.facts.report.said import By
from evaluation.grading.results.report.models import read_model_row
from evaluation.grading.results.report.workers import read_worker_row
from evaluation.grading.results.rest import GradingViewSet
from evaluation.models import ExemplaryAnswer, Run
from evaluation.runs.rest.finished_runs import CURSOR, LIMIT, PageSerializer

FactOfRunSerializer = build_serializer(FactOfRun)
FactOnQuestionSerializer = build_serializer(FactOnQuestion)
FactStandingSerializer = build_serializer(FactStanding)
AboutQuestionFacts = build_serializer(QuestionFacts, "why")
AboutRunFacts = build_serializer(RunFacts, without=("silent",))
BESIDE = "Evidence beside the grades: no grade, score, alarm, payment or admission rests on it."


class FactsOfRunSerializer(PageSerializer):
    """A page of the values that workers state, in the order of the questions."""

    results = FactOfRunSerializer(many=True)


class RunFactsSerializer(AboutRunFacts):  # type: ignore[misc, valid-type]
    """Counts of a run's facts, reasons for questions without facts, and a page of values."""

    looked = serializers.BooleanField(help_text="False for a run that did not look for facts.")
    silent = build_serializer(SilentReason, "why")(many=True)
    facts = FactsOfRunSerializer()


class FactsOfQuestionSerializer(AboutQuestionFacts):  # type: ignore[misc, valid-type]
    """Agreed and contested values on a question; `why` is the reason if there are none."""


class FactsOnQuestionsSerializer(PageSerializer):
    """A page of the values that answers state, in the order of the questions."""

    results = FactOnQuestionSerializer(many=True)


class FactsOfAnswersSerializer(serializers.Serializer[Any]):
    """How far a worker's or model's facts agree with the crowd, and a page of facts."""

    standing = FactStandingSerializer()
    facts = FactsOnQuestionsSerializer()


NOTHING = RunFacts(questions=0, spoken=0, agreed=0, contested=0, silent=[])


@extend_schema(tags=["results"])
class FactViewSet(GradingViewSet):
    """API endpoints for values the workers agree on, and the facts of answers."""

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
        """Return the counts of a run's facts, and a page of values that workers state."""
        run = self.done(request, run_id)
        facts = build_run_facts(run)
        question = parse_public_id(request.query_params, "question", blank=True)
        page = read_crowd_facts(run, read_cursor(request), read_limit(request), question)
        rows = FactOfRunSerializer(page.rows, many=True).data
        silent = build_serializer(SilentReason, "why")((facts or NOTHING).silent, many=True).data
        return Response(
            {
                **AboutRunFacts(facts or NOTHING).data,
                "looked": facts is not None,
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
        """Return the agreed and the contested values on a question."""
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
        """Return how far a worker's facts agree with the crowd, and a page of them."""
        run = self.done(request, run_id)
        row = read_worker_row(run, worker)
        return self._respond(request, run, "worker", worker, row.facts if row else None)

    @extend_schema(
        operation_id="results_model_facts",
        summary="List the facts of a model's answers beside the crowd's",
        description=BESIDE,
        parameters=[CURSOR, LIMIT],
        responses=FactsOfAnswersSerializer,
    )
    def model(self, request: Request, run_id: Any, model: Any) -> Response:
        """Return how far a model's facts agree with the crowd, and a page of them."""
        run = self.done(request, run_id)
        row = read_model_row(run, model)
        return self._respond(request, run, "model", model, row.facts if row else None)

    def _respond(
        self, request: Request, run: Run, by: By, who: Any, standing: FactStanding | None
    ) -> Response:
        """Return agreement and a page of facts of a worker or model; 404 if it is unknown."""
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
