"""Bonuses and parts of the pay: where each stands, and a person's yes or no to a round."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.ledger import bonuses, confirming, tallies
from annotations.ledger.bonuses import PART, STATES, Event, UnsettledError
from annotations.models import BonusPayment, QuestionSetVersion
from annotations.web.paging import written
from annotations.web.query import choice
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import limit_of, page_body, slice_body, start_of
from annotations.web.rest.problems import ApiProblem, Fault, bad_field
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.api.paying.desk import VERSION, refused_payment
from evaluation.api.paying.money import MoneyField, SumField
from evaluation.paying.scope import paid_version

SAID = {"paid": Event.PAID, "failed": Event.FAILED}
"""What a panel says of a payment."""


class BonusPaymentSerializer(serializers.Serializer[Any]):
    """A bonus, or a part of the pay, and where it stands."""

    id = serializers.UUIDField()
    submission = serializers.UUIDField(source="person")
    worker = serializers.CharField(source="name")
    panel = serializers.CharField()
    round = serializers.CharField(help_text=f"That of parts of the pay is called {PART}.")
    attempt = serializers.IntegerField(help_text="More than 1 where an earlier one failed.")
    amount = MoneyField()
    currency = serializers.CharField()
    state = serializers.ChoiceField(choices=list(STATES.values()))
    list = serializers.UUIDField(
        source="batch", allow_null=True, help_text="The list that has it; null until one does."
    )
    reason = serializers.CharField(help_text="The rule, or why a part; empty from a file.")
    by = serializers.CharField(help_text="Who confirmed it; empty until somebody does.")


class PayStandingSerializer(serializers.Serializer[Any]):
    """How many are in a state, and their sum."""

    state = serializers.ChoiceField(choices=list(STATES.values()))
    n = serializers.IntegerField()
    amount = MoneyField()


class BonusRoundSerializer(serializers.Serializer[Any]):
    """A round of bonuses, or the parts of the pay."""

    round = serializers.CharField()
    parts = serializers.BooleanField(source="is_part", help_text="Whether it is parts of the pay.")
    states = PayStandingSerializer(many=True)
    currency = serializers.CharField(help_text="Of all its payments; empty where it has several.")
    planned = MoneyField(help_text="What confirming it asks for.")
    unsent = MoneyField(help_text="What cancelling it asks for.")


class RoundTotalSerializer(StrictSerializer):
    """A round, and the sum that somebody says yes to."""

    round = serializers.CharField(
        max_length=bonuses.LONGEST_ROUND,
        help_text=f"Its name; {PART} for the parts of the pay.",
    )
    total = SumField(help_text="As bonuses/rounds/ has it: where it is another by now, 409.")


class RoundDoneSerializer(serializers.Serializer[Any]):
    """What was done with a round."""

    round = serializers.CharField()
    state = serializers.ChoiceField(choices=["confirmed", "cancelled"])
    n = serializers.IntegerField()
    total = MoneyField()


class SaidPaymentSerializer(StrictSerializer):
    """What a panel said of a payment that was sent."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=list(SAID))
    reference = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text="The panel's own."
    )


class SettlementSerializer(StrictSerializer):
    """What a panel said of payments."""

    payments = SaidPaymentSerializer(many=True, allow_empty=False)


class SettledSerializer(serializers.Serializer[Any]):
    """How many of them were news."""

    new = serializers.IntegerField()
    unchanged = serializers.IntegerField()


@extend_schema(tags=["paying"])
class BonusViewSet(ApiViewSet):
    """The ledger of bonuses and parts of the pay; nothing here asks a panel to pay."""

    queryset = BonusPayment.objects.all()
    serializer_class = BonusPaymentSerializer

    @extend_schema(
        operation_id="paying_bonuses",
        summary="List bonuses and parts of the pay, in the order in which they were planned",
        description="For who may change the set.",
        parameters=[
            VERSION,
            OpenApiParameter("round", str, description="Only this round."),
            OpenApiParameter("state", str, enum=list(STATES.values())),
        ],
        responses=BonusPaymentSerializer(many=True),
    )
    def list(self, request: Request, set_id: UUID) -> Response:
        """Return a page of them."""
        version = paid_version(request, set_id)
        asked = request.query_params
        state, name = choice(asked, "state", ["", *STATES.values()], ""), asked.get("round")
        start, limit = start_of(request, "bonuses"), limit_of(request)
        # A page begins after a payment, wherever it stands: states change between two pages.
        fitting = (
            (place, one)
            for place, one in enumerate(bonuses.payments_of(version))
            if place >= start and state in ("", one.state) and name in (None, one.round)
        )
        found = list(islice(fitting, limit + 1))
        following = written("bonuses", found[limit][0]) if len(found) > limit else None
        rows = BonusPaymentSerializer([one for _, one in found[:limit]], many=True).data
        return Response(page_body(request, rows, following))

    @extend_schema(
        operation_id="paying_bonus_rounds",
        summary="Count bonuses and parts of the pay, by round and state",
        parameters=[VERSION],
        responses=BonusRoundSerializer(many=True),
    )
    def rounds(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the rounds."""
        found = tallies.by_round(bonuses.payments_of(paid_version(request, set_id)))
        start = start_of(request, "rounds")
        shown = found[start : start + limit_of(request)]
        rows = BonusRoundSerializer(shown, many=True).data
        return Response(slice_body(request, "rounds", rows, start, len(found)))

    @extend_schema(
        operation_id="paying_bonus_confirm",
        summary="Confirm what is planned of a round",
        description="A person's yes: only then a list can be taken. 409 where the sum of what is "
        "planned is not `total`.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=RoundTotalSerializer,
        responses={200: RoundDoneSerializer},
    )
    @repeatable
    def confirm(self, request: Request, set_id: UUID) -> Response:
        """Confirm it."""
        return self._advance(request, set_id, confirming.confirm, "confirmed")

    @extend_schema(
        operation_id="paying_bonus_cancel",
        summary="Cancel what was not sent of a round",
        description="It can be planned anew then. 409 where the sum of what is planned or "
        "confirmed is not `total`.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=RoundTotalSerializer,
        responses={200: RoundDoneSerializer},
    )
    @repeatable
    def cancel(self, request: Request, set_id: UUID) -> Response:
        """Cancel it."""
        return self._advance(request, set_id, confirming.cancel, "cancelled")

    @extend_schema(
        operation_id="paying_bonus_settle",
        summary="Say what the panel did with payments that were sent",
        description="All or none. What is told already changes nothing. 409 for a payment that was "
        "not sent, or of which the opposite was said; 400 for one that is none.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=SettlementSerializer,
        responses={200: SettledSerializer},
    )
    @repeatable
    def settle(self, request: Request, set_id: UUID) -> Response:
        """Keep it, and return how many were news."""
        version = paid_version(request, set_id)
        given = self.checked(SettlementSerializer).validated_data["payments"]
        places: dict[UUID, int] = {}
        for place, one in enumerate(given):
            if places.setdefault(one["id"], place) != place:
                raise bad_field(
                    f"payments/{place}/id", "It stands there already: say once what came of it."
                )
        told = {one["id"]: (SAID[one["state"]], one.get("reference", "")) for one in given}
        try:
            new, unchanged = bonuses.settle(version, request.user, told)
        except UnsettledError as error:
            pointer = f"#/payments/{places[error.payment]}/id"
            fault = Fault(f"{error}.", pointer=pointer, code=error.code)
            code = "conflict" if error.is_there else "invalid"
            said = f"Nothing was kept: {error}."
            raise ApiProblem(code, said, [fault], reason=error.code) from None
        return Response(SettledSerializer({"new": new, "unchanged": unchanged}).data)

    def _advance(
        self,
        request: Request,
        set_id: UUID,
        act: Callable[[QuestionSetVersion, Any, str, Decimal], bonuses.Batch],
        state: str,
    ) -> Response:
        version = paid_version(request, set_id)
        asked = self.checked(RoundTotalSerializer).validated_data
        name, total = asked["round"], asked["total"]
        if not bonuses.payments_of(version, round_=name):
            raise bad_field("round", f"Nobody has a payment of a round {name!r}.")
        with refused_payment():
            done = act(version, request.user, name, total)
        told = {"round": name, "state": state, "n": len(done.payments), "total": done.total}
        return Response(RoundDoneSerializer(told).data)
