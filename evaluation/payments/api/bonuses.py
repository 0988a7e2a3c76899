"""REST API: bonuses and partial payments of a version, and the lists of them for a panel."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from django.urls import reverse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.ledger import bonuses, confirmation, tallies
from annotations.ledger.bonuses import (
    PART,
    STATES,
    Event,
    load_claimed_batch,
    load_payments,
    split_confirmed_payments,
)
from annotations.ledger.errors import NothingToSendError, UnsettledError
from annotations.ledger.panel_lists import (
    BONUSES,
    FORMATS,
    PARTS,
    PAYMENT_LISTS,
    ListRequest,
    WhichBatchError,
    claim_payments_of_list,
    format_payment_list,
)
from annotations.ledger.sentences import LISTS
from annotations.ledger.tallies import PaymentTally, group_by_list
from annotations.models import BonusPayment, QuestionSetVersion
from annotations.web.downloads import build_download_response, build_file_name
from annotations.web.paging import encode_cursor
from annotations.web.query import parse_choice
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.negotiation import FileNegotiation
from annotations.web.rest.paging import (
    build_page_body,
    build_slice_body,
    read_limit,
    read_start_index,
)
from annotations.web.rest.problems import (
    ApiProblem,
    Fault,
    build_field_problem,
    build_parameter_problem,
)
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.payments.api.decisions import VERSION, translate_payment_errors
from evaluation.payments.api.rules import MoneyField, SumField
from evaluation.payments.storage.evidence import get_payable_version
from evaluation.runs.rest.views import build_conflict_problem

EVENTS = {"paid": Event.PAID, "failed": Event.FAILED}
"""Events of a payment, by the word of the request."""


class BonusPaymentSerializer(serializers.Serializer[Any]):
    """A bonus or a partial payment, with its state."""

    id = serializers.UUIDField()
    submission = serializers.UUIDField(source="person")
    worker = serializers.CharField(source="name")
    panel = serializers.CharField()
    round = serializers.CharField(help_text=f"Parts of the pay have the round {PART}.")
    attempt = serializers.IntegerField(help_text="More than 1 where an earlier one failed.")
    amount = MoneyField()
    currency = serializers.CharField()
    state = serializers.ChoiceField(choices=list(STATES.values()))
    list = serializers.UUIDField(
        source="batch", allow_null=True, help_text="The list that has it; null until one does."
    )
    reason = serializers.CharField(help_text="The rule, or why a part; empty from a file.")
    by = serializers.CharField(help_text="The user who confirmed it; empty before confirmation.")


class PaymentStateCountSerializer(serializers.Serializer[Any]):
    """Number and sum of the payments in one state."""

    state = serializers.ChoiceField(choices=list(STATES.values()))
    n = serializers.IntegerField()
    amount = MoneyField()


class BonusRoundSerializer(serializers.Serializer[Any]):
    """Payment round: a named group of bonuses, or all partial payments."""

    round = serializers.CharField()
    parts = serializers.BooleanField(source="is_part", help_text="Whether it is parts of the pay.")
    states = PaymentStateCountSerializer(many=True)
    currency = serializers.CharField(help_text="Of all its payments; empty where it has several.")
    planned = MoneyField(help_text="What confirming it asks for.")
    unsent = MoneyField(help_text="What cancelling it asks for.")


class RoundTotalSerializer(StrictSerializer):
    """Request body that confirms or cancels a round: its name, and the sum the user saw."""

    round = serializers.CharField(
        max_length=bonuses.LONGEST_ROUND,
        help_text=f"Its name; {PART} for the parts of the pay.",
    )
    total = SumField(help_text="As bonuses/rounds/ has it: where it is another by now, 409.")


class RoundResultSerializer(serializers.Serializer[Any]):
    """Result of confirming or cancelling a round: number of payments and their sum."""

    round = serializers.CharField()
    state = serializers.ChoiceField(choices=["confirmed", "cancelled"])
    n = serializers.IntegerField()
    total = MoneyField()


class PaymentReportSerializer(StrictSerializer):
    """A panel's result for one payment that was sent to it."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=list(EVENTS))
    reference = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text="The panel's own."
    )


class PaymentReportsSerializer(StrictSerializer):
    """Request body with a panel's results for payments."""

    payments = PaymentReportSerializer(many=True, allow_empty=False)


class ReportCountsSerializer(serializers.Serializer[Any]):
    """Numbers of payments with a new and with an already known result of the panel."""

    new = serializers.IntegerField()
    unchanged = serializers.IntegerField()


@extend_schema(tags=["paying"])
class BonusViewSet(ApiViewSet):
    """API endpoints of the ledger of bonuses and partial payments; none makes a panel pay."""

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
        """Return a page of the version's payments."""
        version = get_payable_version(request, set_id)
        query = request.query_params
        state, name = parse_choice(query, "state", ["", *STATES.values()], ""), query.get("round")
        start, limit = read_start_index(request, "bonuses"), read_limit(request)
        # A cursor counts all payments, not the filtered ones: states change between two pages.
        selected = (
            (position, payment)
            for position, payment in enumerate(bonuses.load_payments(version))
            if position >= start and state in ("", payment.state) and name in (None, payment.round)
        )
        # One payment more than a page shows whether there is a next page.
        page = list(islice(selected, limit + 1))
        next_cursor = encode_cursor("bonuses", page[limit][0]) if len(page) > limit else None
        rows = BonusPaymentSerializer([payment for _, payment in page[:limit]], many=True).data
        return Response(build_page_body(request, rows, next_cursor))

    @extend_schema(
        operation_id="paying_bonus_rounds",
        summary="Count bonuses and parts of the pay, by round and state",
        parameters=[VERSION],
        responses=BonusRoundSerializer(many=True),
    )
    def rounds(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the version's payment rounds."""
        rounds = tallies.group_by_round(bonuses.load_payments(get_payable_version(request, set_id)))
        start = read_start_index(request, "rounds")
        page = rounds[start : start + read_limit(request)]
        rows = BonusRoundSerializer(page, many=True).data
        return Response(build_slice_body(request, "rounds", rows, start, len(rounds)))

    @extend_schema(
        operation_id="paying_bonus_confirm",
        summary="Confirm what is planned of a round",
        description="A person's yes: only then a list can be taken. 409 where the sum of what is "
        "planned is not `total`.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=RoundTotalSerializer,
        responses={200: RoundResultSerializer},
    )
    @make_repeatable
    def confirm(self, request: Request, set_id: UUID) -> Response:
        """Confirm all planned payments of a round."""
        return self._advance(request, set_id, confirmation.confirm_round, "confirmed")

    @extend_schema(
        operation_id="paying_bonus_cancel",
        summary="Cancel what was not sent of a round",
        description="It can be planned anew then. 409 where the sum of what is planned or "
        "confirmed is not `total`.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=RoundTotalSerializer,
        responses={200: RoundResultSerializer},
    )
    @make_repeatable
    def cancel(self, request: Request, set_id: UUID) -> Response:
        """Cancel the payments of a round."""
        return self._advance(request, set_id, confirmation.cancel_round, "cancelled")

    @extend_schema(
        operation_id="paying_bonus_settle",
        summary="Store the panel's result for sent payments",
        description="All or none. A known result changes nothing. 409 for a payment that was "
        "not sent, or that has the opposite result; 400 for an unknown one.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=PaymentReportsSerializer,
        responses={200: ReportCountsSerializer},
    )
    @make_repeatable
    def settle(self, request: Request, set_id: UUID) -> Response:
        """Store the panel's results of payments, and return how many of them are new."""
        version = get_payable_version(request, set_id)
        payments = self.validate_body(PaymentReportsSerializer).validated_data["payments"]
        index_by_id: dict[UUID, int] = {}
        for index, payment in enumerate(payments):
            # Two outcomes of one payment could contradict each other.
            if index_by_id.setdefault(payment["id"], index) != index:
                raise build_field_problem(
                    f"payments/{index}/id", "It is already recorded: report each result once."
                )
        outcomes = {
            payment["id"]: (EVENTS[payment["state"]], payment.get("reference", ""))
            for payment in payments
        }
        try:
            new, unchanged = bonuses.store_panel_reports(version, request.user, outcomes)
        except UnsettledError as error:
            pointer = f"#/payments/{index_by_id[error.payment]}/id"
            problem = Fault(f"{error}.", pointer=pointer, code=error.code)
            # An unknown payment is an invalid request; a known one conflicts with its state.
            code = "conflict" if error.is_there else "invalid"
            sentence = f"Nothing was stored: {error}."
            raise ApiProblem(code, sentence, [problem], reason=error.code) from None
        return Response(ReportCountsSerializer({"new": new, "unchanged": unchanged}).data)

    def _advance(
        self,
        request: Request,
        set_id: UUID,
        advance: Callable[[QuestionSetVersion, Any, str, Decimal], bonuses.PaymentBatch],
        state: str,
    ) -> Response:
        """Confirm or cancel a round; 400 for an unknown round, 409 if its total has changed."""
        version = get_payable_version(request, set_id)
        values = self.validate_body(RoundTotalSerializer).validated_data
        name, total = values["round"], values["total"]
        if not bonuses.load_payments(version, round_=name):
            raise build_field_problem("round", f"No worker has a payment of a round {name!r}.")
        with translate_payment_errors():
            batch = advance(version, request.user, name, total)
        body = {"round": name, "state": state, "n": len(batch.payments), "total": batch.total}
        return Response(RoundResultSerializer(body).data)


FREE_LISTS = [name for name in FORMATS if name not in PAYMENT_LISTS]
"""Lists that may be taken at any time."""
ENDINGS = {"prolific-approve": "txt"}
CSV: Any = {(200, "text/csv"): {"type": "string", "format": "binary"}}


class NewPaymentListSerializer(StrictSerializer):
    """Request body to claim a payment list: bonuses or partial payments."""

    list = serializers.ChoiceField(
        choices=list(PAYMENT_LISTS),
        default=BONUSES,
        help_text=f"Confirmed bonuses, or with {PARTS} confirmed parts of the pay.",
    )


class PaymentListSerializer(serializers.Serializer[Any]):
    """A payment list that was claimed for the panel, or can be claimed."""

    id = serializers.UUIDField()
    list = serializers.ChoiceField(choices=list(PAYMENT_LISTS))
    n = serializers.IntegerField(help_text="Payments in it.")
    total = MoneyField(help_text="Without the panel's fee.")
    currency = serializers.CharField()
    states = PaymentStateCountSerializer(many=True, help_text="Their results.")
    url = serializers.URLField(help_text="Address of the list itself.")


@extend_schema(tags=["paying"])
class PaymentListViewSet(ApiViewSet):
    """API endpoints of payment lists for panels; no payment is in two lists."""

    queryset = BonusPayment.objects.all()
    serializer_class = PaymentListSerializer

    @extend_schema(
        operation_id="paying_lists",
        summary="List the lists of money that were taken, the oldest first",
        description="For who may change the set. What Prolific's own interface was sent counts "
        "as one.",
        parameters=[VERSION],
        responses=PaymentListSerializer(many=True),
    )
    def list(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the payment lists."""
        version = get_payable_version(request, set_id)
        lists = list(group_by_list(load_payments(version)).items())
        start = read_start_index(request, "lists")
        page = lists[start : start + read_limit(request)]
        rows = PaymentListSerializer(
            [_build_list_body(request, version, *item) for item in page], many=True
        )
        return Response(build_slice_body(request, "lists", rows.data, start, len(lists)))

    @extend_schema(
        operation_id="paying_list_take",
        summary="Take the list of confirmed bonuses, or of parts of the pay",
        description="Notes them as sent: no other list will have any of them, and you pay them "
        "on the panel. The list itself is at `url`. No panel is notified. 409 where nothing "
        "confirmed is left.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=NewPaymentListSerializer,
        responses={201: PaymentListSerializer},
    )
    @make_repeatable
    def take(self, request: Request, set_id: UUID) -> Response:
        """Claim the payments of a list; return the list's id, sum and link."""
        version = get_payable_version(request, set_id)
        name = self.validate_body(NewPaymentListSerializer).validated_data["list"]
        try:
            batch = claim_payments_of_list(version, request.user, name)
        except NothingToSendError:
            # Rejecting a worker after planning holds the bonus back; the problem says so.
            n_held = (
                len(split_confirmed_payments(load_payments(version))[1]) if name == BONUSES else 0
            )
            sentence = capfirst(LISTS.text("held_back", n=n_held)) if n_held else ""
            extra = {"held_back": n_held}
            raise build_conflict_problem(
                "nothing_left", extra, noun=PAYMENT_LISTS[name], held_back=sentence
            ) from None
        tally = group_by_list(load_payments(version))[batch.id]
        body = PaymentListSerializer(_build_list_body(request, version, batch.id, tally)).data
        return Response(body, status.HTTP_201_CREATED)


@extend_schema(tags=["paying"])
class PanelFileViewSet(ApiViewSet):
    """API endpoints that send lists for panels as files."""

    queryset = BonusPayment.objects.all()
    content_negotiation_class = FileNegotiation

    @extend_schema(
        operation_id="paying_list",
        summary="Take away a list of money that was taken before",
        description="“id,amount” a line without a header, the same each time: take it to the "
        "panel only if this has not happened yet.",
        parameters=[VERSION],
        responses=CSV,
    )
    def money(self, request: Request, set_id: UUID, batch_id: UUID) -> StreamingHttpResponse:
        """Send the file of a claimed payment list; Http404 if it is unknown."""
        version = get_payable_version(request, set_id)
        batch = load_claimed_batch(version, batch_id)
        if not batch.payments:
            raise Http404("there is no such list")
        return build_download_response(
            format_payment_list(version, batch),
            _build_file_name(version, f"list {batch_id}"),
            "csv",
        )

    @extend_schema(
        operation_id="paying_export",
        summary="Take away a list of decisions for a panel, or their log",
        description="Ids to approve, a line each; rejections; Mechanical Turk's own file; or "
        "every decision that was ever made. Undecided workers are in no list.",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, description=", ".join(FREE_LISTS)),
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
        """Send a list of decisions for a panel, or their log, as a file."""
        version = get_payable_version(request, set_id)
        if name not in FREE_LISTS:
            raise Http404("there is no such list")
        request_for_list = ListRequest(request.query_params.get("batch"), request.user)
        try:
            chunks, _ = FORMATS[name](version, request_for_list)
        except WhichBatchError as error:
            sentence = f"{capfirst(error.why)}: name one of {error.there}."
            raise build_parameter_problem("batch", sentence, reason=error.reason) from None
        return build_download_response(
            chunks, _build_file_name(version, name), ENDINGS.get(name, "csv")
        )


def _build_list_body(
    request: Request, version: QuestionSetVersion, key: UUID, tally: PaymentTally
) -> dict[str, Any]:
    """Return the body of a `PaymentListSerializer`, with the link to the file."""
    link = reverse("api:paying-list", args=[version.question_set.public_id, key])
    return {
        "id": key,
        "list": PARTS if tally.is_part else BONUSES,
        "n": len(tally.payments),
        "total": tally.total,
        "currency": tally.payments[0].currency,
        "states": tally.states,
        "url": request.build_absolute_uri(f"{link}?version={version.number}"),
    }


def _build_file_name(version: QuestionSetVersion, list_name: str) -> str:
    """Return the name of a downloaded list, without its extension."""
    return build_file_name(version.question_set.name, f"version {version.number}", list_name)
