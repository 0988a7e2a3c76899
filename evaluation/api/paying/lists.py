"""Lists that a person takes to a panel: those of money once each, the others at any time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from django.urls import reverse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.ledger.bonuses import (
    NothingToSendError,
    claimed,
    confirmed,
    payments_of,
)
from annotations.ledger.exporting import (
    BONUSES,
    FORMATS,
    MONEY,
    PARTS,
    ListWanted,
    WhichBatchError,
    list_of,
    take,
)
from annotations.ledger.sentences import LISTS
from annotations.ledger.tallies import Tally, by_list
from annotations.models import BonusPayment, QuestionSetVersion
from annotations.web.downloads import download, file_name
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.negotiation import AnyForm
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import limit_of, slice_body, start_of
from annotations.web.rest.problems import bad_parameter
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.api.conflicts import conflict
from evaluation.api.paying.bonuses import PayStandingSerializer
from evaluation.api.paying.desk import VERSION
from evaluation.api.paying.money import MoneyField
from evaluation.paying.scope import paid_version

FREE = [name for name in FORMATS if name not in MONEY]
"""Lists that may be taken at any time."""
ENDINGS = {"prolific-approve": "txt"}
CSV: Any = {(200, "text/csv"): {"type": "string", "format": "binary"}}


class WantedListSerializer(StrictSerializer):
    """Which list of money is taken."""

    list = serializers.ChoiceField(
        choices=list(MONEY),
        default=BONUSES,
        help_text=f"Confirmed bonuses, or with {PARTS} confirmed parts of the pay.",
    )


class TakenListSerializer(serializers.Serializer[Any]):
    """A list of money that was taken to the panel, or is to be."""

    id = serializers.UUIDField()
    list = serializers.ChoiceField(choices=list(MONEY))
    n = serializers.IntegerField(help_text="Payments in it.")
    total = MoneyField(help_text="Without the panel's fee.")
    currency = serializers.CharField()
    states = PayStandingSerializer(many=True, help_text="What came of them.")
    url = serializers.URLField(help_text="Address of the list itself.")


@extend_schema(tags=["paying"])
class TakenListViewSet(ApiViewSet):
    """Lists of bonuses and parts of the pay: each payment stands in one of them."""

    queryset = BonusPayment.objects.all()
    serializer_class = TakenListSerializer

    @extend_schema(
        operation_id="paying_lists",
        summary="List the lists of money that were taken, the oldest first",
        description="For who may change the set. What Prolific's own interface was sent counts "
        "as one.",
        parameters=[VERSION],
        responses=TakenListSerializer(many=True),
    )
    def list(self, request: Request, set_id: UUID) -> Response:
        """Return a page of them."""
        version = paid_version(request, set_id)
        found = list(by_list(payments_of(version)).items())
        start = start_of(request, "lists")
        shown = found[start : start + limit_of(request)]
        rows = TakenListSerializer([_told(request, version, *one) for one in shown], many=True)
        return Response(slice_body(request, "lists", rows.data, start, len(found)))

    @extend_schema(
        operation_id="paying_list_take",
        summary="Take the list of confirmed bonuses, or of parts of the pay",
        description="Notes them as sent: no other list will have any of them, and you pay what it "
        "says on the panel. The list itself is at `url`. No panel is told. 409 where nothing "
        "confirmed is left.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=WantedListSerializer,
        responses={201: TakenListSerializer},
    )
    @repeatable
    def take(self, request: Request, set_id: UUID) -> Response:
        """Claim what it holds, and return its id."""
        version = paid_version(request, set_id)
        name = self.checked(WantedListSerializer).validated_data["list"]
        try:
            batch = take(version, request.user, name)
        except NothingToSendError:
            n_held = len(confirmed(payments_of(version)).held_back) if name == BONUSES else 0
            held = capfirst(LISTS.text("held_back", n=n_held)) if n_held else ""
            more = {"held_back": n_held}
            raise conflict("nothing_left", more, noun=MONEY[name], held_back=held) from None
        tally = by_list(payments_of(version))[batch.id]
        told = TakenListSerializer(_told(request, version, batch.id, tally)).data
        return Response(told, status.HTTP_201_CREATED)


@extend_schema(tags=["paying"])
class PanelListViewSet(ApiViewSet):
    """Lists as files."""

    queryset = BonusPayment.objects.all()
    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="paying_list",
        summary="Take away a list of money that was taken before",
        description="“id,amount” a line without a header, the same each time: take it to the "
        "panel only if nobody has.",
        parameters=[VERSION],
        responses=CSV,
    )
    def money(self, request: Request, set_id: UUID, batch_id: UUID) -> StreamingHttpResponse:
        """Return it."""
        version = paid_version(request, set_id)
        batch = claimed(version, batch_id)
        if not batch.payments:
            raise Http404("there is no such list")
        return download(list_of(version, batch), _name(version, f"list {batch_id}"), "csv")

    @extend_schema(
        operation_id="paying_export",
        summary="Take away a list of decisions for a panel, or their log",
        description="Ids to approve, a line each; rejections; Mechanical Turk's own file; or "
        "every decision that was ever made. Whom nobody decided of is in no list.",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, description=", ".join(FREE)),
            VERSION,
            OpenApiParameter(
                "batch",
                str,
                description="With mturk: the name or id of one of several that were imported.",
            ),
        ],
        responses={**CSV, (200, "text/plain"): {"type": "string", "format": "binary"}},
    )
    def file(self, request: Request, set_id: UUID, name: str) -> StreamingHttpResponse:
        """Return it."""
        version = paid_version(request, set_id)
        if name not in FREE:
            raise Http404("there is no such list")
        wanted = ListWanted(request.query_params.get("batch"), request.user)
        try:
            chunks, _ = FORMATS[name](version, wanted)
        except WhichBatchError as error:
            said = f"{capfirst(error.why)}: name one of {error.there}."
            raise bad_parameter("batch", said, reason=error.reason) from None
        return download(chunks, _name(version, name), ENDINGS.get(name, "csv"))


def _told(request: Request, version: QuestionSetVersion, key: UUID, of: Tally) -> dict[str, Any]:
    link = reverse("api:paying-list", args=[version.question_set.public_id, key])
    return {
        "id": key,
        "list": PARTS if of.is_part else BONUSES,
        "n": len(of.payments),
        "total": of.total,
        "currency": of.payments[0].currency,
        "states": of.states,
        "url": request.build_absolute_uri(f"{link}?version={version.number}"),
    }


def _name(version: QuestionSetVersion, what: str) -> str:
    return file_name(version.question_set.name, f"version {version.number}", what)
