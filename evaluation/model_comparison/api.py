"""REST API that compares language models: leaderboard, pairs, groups of questions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.query import parse_choice, parse_public_id
from annotations.web.rest.paging import build_slice_body, read_limit, read_start_index
from annotations.web.rest.problems import ApiProblem
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_set_with_answers
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.core.stats.inference.significance import Correction
from evaluation.grading.results.pages import GradingViewSet
from evaluation.grading.results.report.comparisons import ModelPair, QuestionDifference
from evaluation.grading.results.report.models import ModelRow
from evaluation.model_comparison.report import (
    ORDERS,
    LeaderboardReport,
    LeaderboardRow,
    PairDetail,
    build_leaderboard,
    build_pair_detail,
    load_differences_page,
)
from evaluation.model_comparison.report.leaderboard import (
    RelatedPair,
    choose_leaderboard_run,
    list_comparable_runs,
)
from evaluation.model_comparison.report.scores import GroupTable, ScoreTable, build_group_tables
from evaluation.models import Run
from evaluation.runs.rest.views import (
    CURSOR,
    LIMIT,
    MessageField,  # noqa: F401  (messages have a form in JSON)
    PageSerializer,
)

CORRECTION = OpenApiParameter(
    "correction",
    str,
    enum=list(CORRECTED_BY),
    default=HOLM,
    description="Of p for the number of pairs: Holm (family-wise error), or on request "
    "Benjamini-Hochberg (false discovery rate).",
)
ModelPairSerializer = build_serializer(ModelPair, "better", "why")
QuestionDifferenceSerializer = build_serializer(QuestionDifference)
AboutLeader = build_serializer(LeaderboardRow, without=("standing",))
AboutRelated = build_serializer(RelatedPair, without=("pair",))
AboutLeaderboard = build_serializer(LeaderboardReport, without=("models", "related"))
AboutPair = build_serializer(PairDetail, without=("pair",))


class LeaderSerializer(AboutLeader):  # type: ignore[misc, valid-type]
    """A model on the leaderboard, with score, interval and rank."""

    standing = build_serializer(ModelRow, "why")()


class RelatedSerializer(AboutRelated):  # type: ignore[misc, valid-type]
    """Two versions of a model, or one model with two prompting strategies, and their difference."""

    pair = ModelPairSerializer()


class LeaderboardSerializer(AboutLeaderboard):  # type: ignore[misc, valid-type]
    """Leaderboard of a run: its models by score, best first."""

    models = LeaderSerializer(many=True)
    related = RelatedSerializer(many=True)


class PairDetailSerializer(AboutPair):  # type: ignore[misc, valid-type]
    """Comparison of two models of a run."""

    pair = ModelPairSerializer()


class QuestionDifferencesSerializer(PageSerializer):
    """A page of the questions that both models were scored on, with both answers."""

    results = QuestionDifferenceSerializer(many=True)


class GroupTablesSerializer(PageSerializer):
    """Mean score of every model by question group: category, passage and language."""

    results = build_serializer(GroupTable)(many=True)


@extend_schema(tags=["results"])
class ComparingViewSet(GradingViewSet):
    """Endpoints that compare a run's models: leaderboard, pairs and groups of questions."""

    @extend_schema(
        operation_id="results_leaderboard",
        summary="Rank the language models of a run by significance",
        description="Score with its 95% interval, percentile among people, human ceiling, time and "
        "cost an answer where the answers came with them. `rank` is 1 + the number of models that "
        "are significantly better; `verdict` is the result in a sentence. `runs` holds the "
        "scores of "
        "other runs of the set, and whether their exemplary answers are the same: only then may "
        "they be compared.",
        parameters=[CORRECTION],
        responses=LeaderboardSerializer,
    )
    def leaderboard(self, request: Request, run_id: Any) -> Response:
        """Return the leaderboard of a run, with ranks by the requested correction."""
        run = self.get_finished_run(request, run_id)
        return Response(
            LeaderboardSerializer(build_leaderboard(run, _parse_correction(request))).data
        )

    @extend_schema(
        operation_id="question_sets_leaderboard",
        tags=["question sets"],
        summary="Rank the language models of a question set",
        description="That of `run`, or of the official run, or where there is none of the newest "
        "run that is done; see the leaderboard of a run. 409 where no run is done.",
        parameters=[OpenApiParameter("run", UUID, description="The id of a run."), CORRECTION],
        responses=LeaderboardSerializer,
    )
    def of_set(self, request: Request, set_id: Any) -> Response:
        """Return the leaderboard of a question set: of the named run, else of the official one."""
        question_set = get_set_with_answers(request, set_id)
        wanted = parse_public_id(request.query_params, "run")
        if wanted is None:
            run = choose_leaderboard_run(list_comparable_runs(question_set))
            if run is None:
                raise ApiProblem("no-results", "No run of the set is done.", state="none")
        else:
            of_set = Run.objects.filter(version__question_set=question_set)
            run = self.get_finished_run(request, wanted, of_set)
        return Response(
            LeaderboardSerializer(build_leaderboard(run, _parse_correction(request))).data
        )

    @extend_schema(
        operation_id="results_groups",
        summary="Read the models' mean scores by category, passage and language",
        description="A group of fewer than 10 questions is small. What is the same for all "
        "questions, or another for each, makes no groups.",
        responses=GroupTablesSerializer,
    )
    def groups(self, request: Request, run_id: Any) -> Response:
        """Return the models' mean scores by question group."""
        run = self.get_finished_run(request, run_id)
        tables = build_serializer(GroupTable)(
            build_group_tables(ScoreTable.from_run(run)), many=True
        ).data
        return Response({"next": None, "results": tables})

    @extend_schema(
        operation_id="results_pair",
        summary="Compare two language models in full",
        description="The first one less the second one on common questions; by category, passage "
        "and language, with p after Holm's correction for the number of groups.",
        parameters=[CORRECTION],
        responses=PairDetailSerializer,
    )
    def pair(self, request: Request, run_id: Any, first: UUID, second: UUID) -> Response:
        """Return the comparison of two models of a run."""
        detail, _ = _load_pair(
            self.get_finished_run(request, run_id), first, second, _parse_correction(request)
        )
        return Response(PairDetailSerializer(detail).data)

    @extend_schema(
        operation_id="results_pair_questions",
        summary="List the questions on which two language models differ",
        description="With both answers and the worker's answer nearest to the consensus, largest "
        "difference first.",
        parameters=[
            OpenApiParameter(
                "order",
                str,
                enum=list(ORDERS),
                default="largest",
                description="All questions; or those on which the first, the second is better.",
            ),
            CURSOR,
            LIMIT,
        ],
        responses=QuestionDifferencesSerializer,
    )
    def questions(self, request: Request, run_id: Any, first: UUID, second: UUID) -> Response:
        """Return a page of questions with the answers and scores of two models."""
        run = self.get_finished_run(request, run_id)
        order = parse_choice(request.query_params, "order", ORDERS, "largest")
        name = f"differences-{order}"
        start, limit = read_start_index(request, name), read_limit(request)
        _, table = _load_pair(run, first, second, HOLM)
        page = load_differences_page(run, table, first, second, order, start, limit)
        rows = QuestionDifferenceSerializer(page.questions, many=True).data
        return Response(build_slice_body(request, name, rows, start, page.total))


def _parse_correction(request: Request) -> Correction:
    """Return the p-value correction that the request names, else Holm. Raises ApiProblem."""
    word: Any = parse_choice(request.query_params, "correction", CORRECTED_BY, HOLM)
    return word


def _load_pair(
    run: Run, first: UUID, second: UUID, correction: Correction
) -> tuple[PairDetail, ScoreTable]:
    """Return the comparison of two models of a run, and their score table; raise Http404."""
    detail = build_pair_detail(run, first, second, correction)
    if detail is None:
        raise Http404
    return detail
