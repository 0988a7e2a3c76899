"""REST API views of a run's alarms and facts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.paging import BadCursorError, Page
from annotations.web.query import parse_public_id
from annotations.web.rest.paging import (
    build_page_body,
    build_slice_body,
    read_cursor,
    read_limit,
    read_start_index,
)
from annotations.web.rest.serializers import build_serializer
from evaluation.grading.alarms.report import (
    AlarmEntry,
    AlarmOutcome,
    AlarmsReport,
    Check,
    build_alarms_report,
    build_outcomes_report,
)
from evaluation.grading.facts.report import (
    By,
    FactAgreement,
    FactOnQuestion,
    NoFactsReason,
    QuestionFacts,
    RunFact,
    RunFacts,
    build_run_facts,
    read_answer_facts,
    read_crowd_facts,
    read_question_facts,
)
from evaluation.grading.results.pages import GradingViewSet
from evaluation.grading.results.report.evidence import Exhibit, read_alarm_evidence
from evaluation.grading.results.report.models import read_model_row
from evaluation.grading.results.report.questions import QuestionRow, read_question_rows
from evaluation.grading.results.report.workers import WorkerRow, read_worker_row
from evaluation.models import Alarm, ExemplaryAnswer, Run
from evaluation.runs.rest.views import CURSOR, LIMIT, PageSerializer

AlarmEntrySerializer = build_serializer(AlarmEntry, "title", "measured")
AlarmAlone = build_serializer(AlarmEntry, "title", "measured", without=("workers", "questions"))
AboutAlarms = build_serializer(AlarmsReport, without=("alarms", "checks"))
BecameSerializer = build_serializer(AlarmOutcome, "title")
CheckSerializer = build_serializer(
    Check, "title", "measured", "why", "result", "result_word", "needed"
)
WorkerRowSerializer = build_serializer(WorkerRow)
QuestionRowSerializer = build_serializer(QuestionRow)
ROWS = {"workers": WorkerRowSerializer, "questions": QuestionRowSerializer}
"""The lists of a run's workers and questions."""
FIRST = (
    "An alarm's `workers` and `questions` are the first six; `n_workers` and `n_questions` count "
    "them."
)


class AlarmEntriesSerializer(PageSerializer):
    """A page of alarms, most severe first, each with its first workers and questions."""

    results = AlarmEntrySerializer(many=True)


class AlarmsReportSerializer(AboutAlarms):  # type: ignore[misc, valid-type]
    """The alarms of a run with their outcomes after remedies, and all checks."""

    checks = CheckSerializer(many=True)
    outcomes = BecameSerializer(many=True)
    alarms = AlarmEntriesSerializer()


class AlarmWorkersSerializer(PageSerializer):
    """First page of the workers that an alarm names, best grade first."""

    results = WorkerRowSerializer(many=True)


class AlarmQuestionsSerializer(PageSerializer):
    """First page of the questions that an alarm names, in the order of the question set."""

    results = QuestionRowSerializer(many=True)


class PairsSerializer(PageSerializer):
    """A page of pairs of answers to the same question, as evidence of an alarm."""

    results = build_serializer(Exhibit)(many=True)


class AlarmSerializer(AlarmAlone):  # type: ignore[misc, valid-type]
    """An alarm with the workers and questions it names, and pairs of answers as evidence."""

    workers = AlarmWorkersSerializer()
    questions = AlarmQuestionsSerializer()
    n_pairs = serializers.IntegerField()
    pairs = PairsSerializer()


@extend_schema(tags=["results"])
class AlarmViewSet(GradingViewSet):
    """API endpoints that list the alarms of a run and read one with its evidence."""

    @extend_schema(
        operation_id="results_alarms",
        summary="List the alarms, worst first",
        description=f"`looked` is false for runs that are older than alarms. {FIRST} `checks` are "
        "all checks of the crowd for alarms; the `result` of each is `good`, `problem`, "
        "`not_enough_data` (with the number `needed`) or `not_applicable`. `counts` counts alarms "
        "by severity. `answered` alarms are taken care of by a remedy of this run, as `outcome` "
        "says. `outcomes` describe the result of each alarm after the remedies, and of those of "
        "the "
        "run that this one was made from, which had more: these have no `place` here. [] where "
        "nothing was to be remedied.",
        parameters=[
            OpenApiParameter("worker", UUID, description="Only those that name this worker."),
            OpenApiParameter("question", UUID, description="Only those that name this question."),
            CURSOR,
            LIMIT,
        ],
        responses=AlarmsReportSerializer,
    )
    def alarms(self, request: Request, run_id: Any) -> Response:
        """Return a page of a run's alarms, their outcomes after remedies, and all checks."""
        run = self.get_finished_run(request, run_id)
        start, limit = read_start_index(request, "alarms"), read_limit(request)
        worker, question = (
            parse_public_id(request.query_params, "worker"),
            parse_public_id(request.query_params, "question"),
        )
        report = build_alarms_report(run, worker, question, most=limit, skip=start)
        rows = AlarmEntrySerializer(report.alarms, many=True).data
        outcomes = build_outcomes_report(run)
        return Response(
            {
                **AboutAlarms(report).data,
                "checks": CheckSerializer(report.checks, many=True).data,
                "outcomes": BecameSerializer(outcomes.rows if outcomes else [], many=True).data,
                "alarms": build_slice_body(request, "alarms", rows, start, report.n),
            }
        )

    @extend_schema(
        operation_id="results_alarm",
        summary="Read an alarm with the texts that it rests on",
        description="`cursor` and `limit` are those of `pairs`; keep the limit while you follow "
        "`next`. Workers and questions are first pages: their `next` leads into the lists of "
        "those that the alarm names. `right` is null where an answer has no partner or the "
        "partner was withdrawn. In a pair, `is_named` marks the workers named by the alarm.",
        parameters=[CURSOR, LIMIT],
        responses=AlarmSerializer,
    )
    def alarm(self, request: Request, run_id: Any, place: int) -> Response:
        """Return an alarm, the workers and questions it names, and a page of answer pairs."""
        run = self.get_finished_run(request, run_id)
        limit = read_limit(request)
        # A cursor stands behind so many pairs: with another limit it is no page's.
        start = read_start_index(request, "pairs")
        if start % limit:
            raise BadCursorError
        evidence = read_alarm_evidence(run, place, page=start // limit + 1, size=limit, limit=limit)
        if evidence is None:
            raise Http404
        key = Alarm.objects.values_list("pk", flat=True).get(run=run, place=place)
        questions = read_question_rows(run, size=limit, alarm=key)
        pairs = build_serializer(Exhibit)(evidence.exhibits, many=True).data
        return Response(
            {
                **AlarmAlone(evidence.alarm).data,
                "workers": _build_first_page(request, run, place, "workers", evidence.workers),
                "questions": _build_first_page(request, run, place, "questions", questions),
                "n_pairs": evidence.n_exhibits,
                "pairs": build_slice_body(request, "pairs", pairs, start, evidence.n_exhibits),
            }
        )


def _build_first_page(
    request: Request, run: Run, place: int, name: str, page: Page[Any]
) -> dict[str, Any]:
    """Return the body with the first page of the workers or questions that an alarm names.

    `next` is the URL of the following page.
    """
    body = build_page_body(request, ROWS[name](page.rows, many=True).data, None)
    if page.next is not None:
        address = reverse(f"api:results-{name}", kwargs={"run_id": run.public_id})
        query = f"?alarm={place}&limit={read_limit(request)}&cursor={page.next}"
        body["next"] = request.build_absolute_uri(address + query)
    return body


FactOfRunSerializer = build_serializer(RunFact)
FactOnQuestionSerializer = build_serializer(FactOnQuestion)
FactStandingSerializer = build_serializer(FactAgreement)
AboutQuestionFacts = build_serializer(QuestionFacts, "why")
AboutRunFacts = build_serializer(RunFacts, without=("silent",))
BESIDE = "Additional evidence: no grade, score, alarm, payment or admission depends on it."


class FactsOfRunSerializer(PageSerializer):
    """A page of the values that workers state, in the order of the questions."""

    results = FactOfRunSerializer(many=True)


class RunFactsSerializer(AboutRunFacts):  # type: ignore[misc, valid-type]
    """Counts of a run's facts, reasons for questions without facts, and a page of values."""

    looked = serializers.BooleanField(help_text="False for a run that did not look for facts.")
    silent = build_serializer(NoFactsReason, "why")(many=True)
    facts = FactsOfRunSerializer()


class FactsOfQuestionSerializer(AboutQuestionFacts):  # type: ignore[misc, valid-type]
    """Agreed and contested values on a question; `why` is the reason if it has none."""


class FactsOnQuestionsSerializer(PageSerializer):
    """A page of the values that answers state, in the order of the questions."""

    results = FactOnQuestionSerializer(many=True)


class FactsOfAnswersSerializer(serializers.Serializer[Any]):
    """Agreement of a worker's or model's facts with the crowd, and a page of the facts."""

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
        run = self.get_finished_run(request, run_id)
        facts = build_run_facts(run)
        question = parse_public_id(request.query_params, "question", blank=True)
        page = read_crowd_facts(run, read_cursor(request), read_limit(request), question)
        rows = FactOfRunSerializer(page.rows, many=True).data
        silent = build_serializer(NoFactsReason, "why")((facts or NOTHING).silent, many=True).data
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
        description=f"{BESIDE} Where the run has no facts of the question, `why` gives the reason.",
        responses=FactsOfQuestionSerializer,
    )
    def question(self, request: Request, run_id: Any, question: Any) -> Response:
        """Return the agreed and the contested values on a question."""
        run = self.get_finished_run(request, run_id)
        if not run.version.questions.filter(public_id=question).exists():
            raise Http404
        rows = ExemplaryAnswer.objects.filter(run=run, question__public_id=question)
        exemplar = rows.only("facts", "question_id").first()
        return Response(FactsOfQuestionSerializer(read_question_facts(run, exemplar)).data)

    @extend_schema(
        operation_id="results_worker_facts",
        summary="List the facts of a worker's answers and the crowd's",
        description=BESIDE,
        parameters=[CURSOR, LIMIT],
        responses=FactsOfAnswersSerializer,
    )
    def worker(self, request: Request, run_id: Any, worker: Any) -> Response:
        """Return how far a worker's facts agree with the crowd, and a page of them."""
        run = self.get_finished_run(request, run_id)
        row = read_worker_row(run, worker)
        return self._respond_with_facts(request, run, "worker", worker, row.facts if row else None)

    @extend_schema(
        operation_id="results_model_facts",
        summary="List the facts of a model's answers and the crowd's",
        description=BESIDE,
        parameters=[CURSOR, LIMIT],
        responses=FactsOfAnswersSerializer,
    )
    def model(self, request: Request, run_id: Any, model: Any) -> Response:
        """Return a page of a model's facts, and how many of them agree with the crowd's."""
        run = self.get_finished_run(request, run_id)
        row = read_model_row(run, model)
        return self._respond_with_facts(request, run, "model", model, row.facts if row else None)

    def _respond_with_facts(
        self, request: Request, run: Run, by: By, author: Any, standing: FactAgreement | None
    ) -> Response:
        """Return the response on a worker's or model's facts; raise 404 for an unknown one."""
        if standing is None:
            raise Http404
        page = read_answer_facts(run, by, author, read_cursor(request), read_limit(request))
        rows = FactOnQuestionSerializer(page.rows, many=True).data
        return Response(
            {
                "standing": FactStandingSerializer(standing).data,
                "facts": build_page_body(request, rows, page.next),
            }
        )
