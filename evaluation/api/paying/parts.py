"""Parts of the pay: who is owed one, and planning them with the sum that was shown."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.ledger import confirming
from annotations.ledger.bonuses import PART, currency_of
from annotations.ledger.parts import WHY, parts_of
from annotations.models import BonusPayment
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.api.paying.desk import VERSION, refused_payment
from evaluation.api.paying.money import MoneyField, SumField
from evaluation.api.paying.rules import BonusesPlannedSerializer
from evaluation.paying.scope import paid_version


class OwedPartSerializer(serializers.Serializer[Any]):
    """Somebody who is owed a part."""

    worker = serializers.CharField(source="person.name")
    panel = serializers.CharField(source="person.panel")
    why = serializers.ChoiceField(choices=list(WHY), source="kind")
    amount = MoneyField()
    status = serializers.CharField(
        source="person.status", help_text="On the panel; empty where it is not known."
    )


class OwedPartsSerializer(serializers.Serializer[Any]):
    """Who could be paid a part now, and of how many others why not."""

    people = OwedPartSerializer(many=True, source="owed", help_text="Nothing is planned of them.")
    total = MoneyField(help_text="What planning them asks for; without the panel's fee.")
    currency = serializers.CharField()
    unknown = serializers.IntegerField(
        source="n_unknown", help_text="Of them, of whom nobody knows where they stand on the panel."
    )
    without = serializers.IntegerField(
        source="n_without", help_text="Not owed one: the settings say no part for them."
    )
    decided = serializers.IntegerField(
        source="n_decided", help_text="Not owed one: somebody approved or rejected them."
    )
    settled = serializers.IntegerField(
        source="n_settled", help_text="Not owed one: the panel has settled what they get."
    )
    there = serializers.IntegerField(source="n_there", help_text="Have one already.")


class PartsTotalSerializer(StrictSerializer):
    """The sum that somebody says yes to."""

    total = SumField(help_text="As reading has it: where it is another by now, 409.")


@extend_schema(tags=["paying"])
class PartViewSet(ApiViewSet):
    """Who did not pass the practice, or failed the attention checks, and is owed a part."""

    queryset = BonusPayment.objects.all()
    serializer_class = OwedPartsSerializer

    @extend_schema(
        operation_id="paying_parts",
        summary="Read who is owed a part of the pay",
        description="For who may change the set; how much it is the collection's settings say.",
        parameters=[VERSION],
        responses=OwedPartsSerializer,
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return them."""
        return Response(OwedPartsSerializer(parts_of(paid_version(request, set_id))).data)

    @extend_schema(
        operation_id="paying_parts_plan",
        summary="Plan a part of the pay for everybody who is owed one",
        description="409 where their sum is not `total`; again it plans nothing. They are "
        "confirmed and cancelled as a round of bonuses is.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=PartsTotalSerializer,
        responses={200: BonusesPlannedSerializer},
    )
    @repeatable
    def plan(self, request: Request, set_id: UUID) -> Response:
        """Plan them, and return how many there are."""
        version = paid_version(request, set_id)
        total = self.checked(PartsTotalSerializer).validated_data["total"]
        with refused_payment():
            done = confirming.plan_parts(version, request.user, total)
        n = len(done.payments)
        told = {"round": PART, "n": n, "new": n, "total": done.total}
        return Response(BonusesPlannedSerializer(told | {"currency": currency_of(version)}).data)
