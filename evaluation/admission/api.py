"""REST API for admission to a collection by scores in an earlier set."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.answering.monitor import find_newest_collection
from annotations.models import Collection, QuestionSet
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.problems import build_field_problem
from annotations.web.scope import get_editable, get_set_with_answers
from evaluation.admission import storage as recruiting
from evaluation.models import ScoreRule

MOST = 1_000


class ScoreRuleSerializer(StrictSerializer):
    """Admission rule: only workers with a minimum score in the earlier set may take part."""

    earlier = serializers.UUIDField(help_text="A graded set of the same owner.")
    at_least = serializers.FloatField(
        min_value=-MOST,
        max_value=MOST,
        help_text="On the scale of the scores of that set.",
    )
    score = serializers.ChoiceField(
        choices=ScoreRule.Score.choices,
        default=ScoreRule.Score.RAW,
        help_text="Compare by raw leave-one-out score or by question contrast.",
    )
    end = serializers.ChoiceField(
        choices=ScoreRule.End.choices,
        default=ScoreRule.End.LOW,
        help_text="What has to reach it: the score, or an end of its 95% interval. The lower end "
        "admits workers who reach it beyond chance.",
    )


class AdmissionRuleSerializer(serializers.Serializer[Any]):
    """Admission rule of a set and its effect; null if admission needs no score."""

    earlier = serializers.UUIDField(
        allow_null=True, help_text="Null without a rule, and for a set that you do not see."
    )
    at_least = serializers.FloatField(allow_null=True)
    end = serializers.ChoiceField(choices=ScoreRule.End.choices, allow_null=True)
    score = serializers.ChoiceField(choices=ScoreRule.Score.choices, allow_null=True)
    run = serializers.UUIDField(
        allow_null=True, help_text="The grading that is used: the official run of the earlier set."
    )
    admitted = serializers.IntegerField(help_text="On the list by their score.")
    by_hand = serializers.IntegerField(help_text="On the list whatever they scored.")
    applied_at = serializers.DateTimeField(allow_null=True)


class AdmissionCountSerializer(serializers.Serializer[Any]):
    """Numbers of workers that a rule would admit now."""

    admitted = serializers.IntegerField()
    graded = serializers.IntegerField(help_text="People of the panel in the earlier grading.")
    too_few = serializers.IntegerField(
        help_text="Of them, those with too few answers for a score; they would not be admitted."
    )
    run = serializers.UUIDField(allow_null=True)


@extend_schema(tags=["collecting"])
class ScoreRuleViewSet(ApiViewSet):
    """Endpoints of the admission of workers by their score in an earlier question set."""

    queryset = Collection.objects.all()
    serializer_class = AdmissionRuleSerializer

    @extend_schema(
        operation_id="collecting_score_rule",
        summary="Read by what earlier score people are admitted",
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the admission rule of a set's collection and its effect."""
        return self._build_response(self._find_collection(set_id))

    @extend_schema(
        operation_id="collecting_score_rule_set",
        summary="Admit by the score in an earlier set",
        description="The list is made now, and anew whenever another grading counts for the "
        "earlier set. Workers who have begun can continue; workers see no score.",
        request=ScoreRuleSerializer,
    )
    def update(self, request: Request, set_id: UUID) -> Response:
        """Store an admission rule; repeating it updates the list of admitted workers."""
        collection = self._find_collection(set_id)
        recruiting.store_rule(collection, **self._read_rule(collection))
        return self._build_response(collection)

    @extend_schema(
        operation_id="collecting_score_rule_drop",
        summary="Ask for no earlier score any more",
        description="Who was put on the list by hand stays there.",
        responses={200: AdmissionRuleSerializer},
    )
    def destroy(self, request: Request, set_id: UUID) -> Response:
        """Delete the admission rule; return the empty rule."""
        collection = self._find_collection(set_id)
        recruiting.delete_rule(collection)
        return self._build_response(collection)

    @extend_schema(
        operation_id="collecting_score_rule_count",
        summary="Count who would be admitted by an earlier score",
        description="Changes nothing.",
        request=ScoreRuleSerializer,
        responses=AdmissionCountSerializer,
    )
    def count(self, request: Request, set_id: UUID) -> Response:
        """Return the number of workers that a rule would admit, without storing it."""
        collection = self._find_collection(set_id)
        selection = recruiting.find_admitted_workers(collection, **self._read_rule(collection))
        counts = {
            "admitted": len(selection.ids),
            "graded": selection.n_graded,
            "too_few": selection.n_too_few,
            "run": selection.run.public_id if selection.run else None,
        }
        return Response(counts)

    def _find_collection(self, set_id: UUID) -> Collection:
        """Return the set's newest collection; Http404 without one or without the right to edit."""
        get_set_with_answers(self.request, set_id)
        newest_collection = find_newest_collection(
            get_editable(self.request, QuestionSet.objects.all(), set_id)
        )
        if newest_collection is None:
            raise Http404("it is not published to workers")
        return newest_collection

    def _read_rule(self, collection: Collection) -> dict[str, Any]:
        """Return the rule in the request's body, with the earlier set itself. Raises ApiProblem."""
        values: dict[str, Any] = dict(self.validate_body(ScoreRuleSerializer).validated_data)
        sets = recruiting.select_earlier_sets(self.request, collection.version.question_set)
        earlier = sets.filter(public_id=values["earlier"]).first()
        if earlier is None:
            raise build_field_problem(
                "earlier", "there is no such set of the same owner with grades that you may see"
            )
        return values | {"earlier": earlier}

    def _build_response(self, collection: Collection) -> Response:
        """Return the response with the stored rule and the number of workers it admits."""
        rule = (
            ScoreRule.objects.filter(collection=collection).select_related("earlier", "run").first()
        )
        sets = recruiting.select_earlier_sets(self.request, collection.version.question_set)
        # Another editor may have chosen an earlier set that this user may not see.
        is_seen = rule is not None and sets.filter(pk=rule.earlier_id).exists()
        body = {
            "earlier": rule.earlier.public_id if rule and is_seen else None,
            "at_least": rule.at_least if rule else None,
            "end": rule.end if rule else None,
            "score": rule.score if rule else None,
            "run": rule.run.public_id if rule and rule.run and is_seen else None,
            "admitted": collection.admissions.filter(by_score=True).count(),
            "by_hand": collection.admissions.filter(by_score=False).count(),
            "applied_at": rule.applied_at if rule else None,
        }
        return Response(AdmissionRuleSerializer(body).data, status.HTTP_200_OK)
