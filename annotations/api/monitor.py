"""REST endpoint for the progress of a collection, with the figures of the page "People answer"."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.answering.monitor import (
    find_newest_collection,
    list_least_answered_questions,
    load_collection_status,
)
from annotations.answering.rank_notice import MESSAGES, find_rank_notice
from annotations.models import Collection, Submission
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.scope import get_set_with_answers


class StageSerializer(serializers.Serializer[Any]):
    """Number of workers at a stage; `number` is that of the passage or question, else 0."""

    stage = serializers.CharField(
        help_text="agreed, practice, reading, question or review; of who left also returned "
        "(withdrew) and screened_out."
    )
    number = serializers.IntegerField()
    people = serializers.IntegerField()


@add_renamed_keys(said="message")
class DropOutSerializer(StageSerializer):
    """Number of workers who dropped out at a stage, also as a sentence."""

    said = serializers.CharField()


@add_renamed_keys(so_far="cost_to_date", at_the_end="cost_of_all_places")
class CollectionCostsSerializer(serializers.Serializer[Any]):
    """Pay and costs of a collection; amounts include the panel's fee, except `pay` and `hourly`."""

    currency = serializers.CharField()
    pay = serializers.FloatField(help_text="For each person.")
    fee_percent = serializers.FloatField()
    paid = serializers.IntegerField(help_text="People who handed in and are not rejected.")
    parts = serializers.IntegerField(
        help_text="People who get a part of the pay, in its place or without handing in."
    )
    so_far = serializers.FloatField(help_text="Parts of the pay among it, and no bonuses.")
    at_the_end = serializers.FloatField(help_text="If every place is used.")
    hourly = serializers.FloatField(allow_null=True, help_text="Of the middle person.")
    hourly_by = serializers.CharField(help_text="server: the time from consent to the end.")
    least_hourly = serializers.FloatField(allow_null=True, help_text="What you want.")
    is_too_little = serializers.BooleanField()


class DeviceCountSerializer(serializers.Serializer[Any]):
    """Numbers of workers who consented and who submitted on one kind of device."""

    device = serializers.ChoiceField(
        choices=Submission.Device.choices,
        allow_blank=True,
        help_text="several: handed in from another kind than they agreed with; empty: not known, "
        "or withdrawn.",
    )
    began = serializers.IntegerField()
    submitted = serializers.IntegerField()


class QuestionProgressSerializer(serializers.Serializer[Any]):
    """One of the questions with the fewest answers: its answers, and the number wanted."""

    question = serializers.CharField(help_text="Its own id.")
    answers = serializers.IntegerField(help_text="Handed in.")
    places = serializers.IntegerField(help_text="People who have it, answered or not.")
    wanted = serializers.IntegerField()
    median_minutes = serializers.FloatField(allow_null=True, help_text="That its page took.")


class CollectionStatusSerializer(serializers.Serializer[Any]):
    """Status of a collection: workers by state, then places, answers, times, stages and costs."""

    version = serializers.IntegerField()
    open = serializers.IntegerField(help_text="People who are answering.")
    submitted = serializers.IntegerField()
    returned = serializers.IntegerField(help_text="They withdrew.")
    timed_out = serializers.IntegerField()
    screened_out = serializers.IntegerField()
    collection = serializers.ChoiceField(choices=Collection.State.choices)
    places = serializers.IntegerField()
    taken = serializers.IntegerField()
    free = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Handed in.")
    median_minutes = serializers.FloatField(allow_null=True, help_text="From consent to the end.")
    quartile_minutes = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Half took between these two."
    )
    began = serializers.IntegerField(help_text="People who agreed.")
    declined = serializers.IntegerField(help_text="Number of refused consents.")
    failed_checks = serializers.IntegerField(
        help_text="Of those who are submitted: shown the code of who failed the attention checks."
    )
    stages = StageSerializer(many=True, help_text="Of those who are answering.")
    left = DropOutSerializer(many=True, help_text="Where people left, most first.")
    money = CollectionCostsSerializer(allow_null=True, help_text="Null if the pay is not set.")
    devices = DeviceCountSerializer(many=True, help_text="Empty where no kind is known.")
    fewest_answers = QuestionProgressSerializer(many=True, help_text="At most 15 questions.")
    rank_notice = serializers.ChoiceField(
        choices=list(MESSAGES),
        allow_null=True,
        help_text="Why no worker can be ranked: few_graded, the version has too few graded "
        "questions; few_each, each worker is asked too few. Null if workers can be ranked.",
    )


@extend_schema(tags=["question sets"])
class MonitorViewSet(ApiViewSet):
    """API endpoint with the status of a question set's newest collection."""

    queryset = Collection.objects.all()
    serializer_class = CollectionStatusSerializer

    @extend_schema(
        operation_id="question_sets_monitor",
        summary="Watch the collecting of answers",
        description="Of the newest version that was published to workers; 404 if none was. The "
        "number of queries does not depend on the number of people: request it every few seconds.",
        responses=CollectionStatusSerializer,
    )
    def read_progress(self, request: Request, set_id: UUID) -> Response:
        """Return the status of the collection, and the questions with the fewest answers."""
        collection = find_newest_collection(get_set_with_answers(request, set_id))
        if collection is None:
            raise Http404("it is not published to workers")
        figures = {
            "version": collection.version.number,
            **load_collection_status(collection).as_dict(),
        }
        figures["fewest_answers"] = [
            row.as_dict() for row in list_least_answered_questions(collection)
        ]
        notice = find_rank_notice(collection)
        figures["rank_notice"] = None if notice is None else notice.code
        return Response(figures)
