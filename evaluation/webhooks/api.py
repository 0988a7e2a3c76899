"""REST API for webhooks and their deliveries."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.paging import NEWEST
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, Fault, build_field_problem
from annotations.web.scope import get_editable, require_requester, select_visible
from evaluation.models import Delivery, Webhook
from evaluation.models.webhooks import LONGEST_URL
from evaluation.webhooks.messages import EVENT_TYPES, LABELS, WebhookError
from evaluation.webhooks.storage import (
    create_webhook,
    edit_webhook,
    queue_delivery_again,
    queue_test_event,
    renew_secret,
    set_webhook_state,
)

CONFLICTS = ("too_many", "name_taken")
"""Codes of a `WebhookError` that are no invalid value."""


class NewWebhookSerializer(StrictSerializer):
    """Address to which events of question sets are sent."""

    name = serializers.CharField(max_length=100)
    url = serializers.CharField(
        max_length=LONGEST_URL, help_text="Events are sent to it by POST: http:// or https://."
    )
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=list(EVENT_TYPES)), allow_empty=False
    )
    question_set = serializers.UUIDField(
        allow_null=True,
        default=None,
        help_text="Null for all question sets that you own or edit in a team.",
    )


class WebhookChangeSerializer(NewWebhookSerializer):
    """Changes of a webhook; keys that are not sent stay."""

    is_on = serializers.BooleanField(help_text="False: no event is recorded and nothing is sent.")


class WebhookSerializer(serializers.Serializer[Any]):
    """Webhook: address, events, and whether it is on."""

    id = serializers.UUIDField(source="public_id")
    name = serializers.CharField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=list(EVENT_TYPES)))
    question_set = serializers.UUIDField(source="question_set.public_id", allow_null=True)
    is_on = serializers.BooleanField()
    off_reason = serializers.CharField(
        help_text="user, failures (too many in a row), gone (the address answered 410) or secret "
        "(SECRET_KEY was changed); empty while it is on."
    )
    off_at = serializers.DateTimeField(allow_null=True)
    failures = serializers.IntegerField(help_text="Failed attempts since the last success.")
    created_at = serializers.DateTimeField()


class WebhookSecretSerializer(WebhookSerializer):
    """Webhook with its secret, which is shown only in this response."""

    secret = serializers.CharField(
        help_text="Begins with whsec_; verifies the header webhook-signature."
    )


class DeliverySerializer(serializers.Serializer[Any]):
    """Delivery of an event to a webhook, with the result of the last attempt."""

    id = serializers.UUIDField(source="public_id")
    event = serializers.SerializerMethodField(help_text="The body that is sent.")
    type = serializers.ChoiceField(source="event.type", choices=list(LABELS))
    state = serializers.ChoiceField(choices=Delivery.State.choices)
    attempts = serializers.IntegerField()
    status = serializers.IntegerField(
        allow_null=True, help_text="HTTP status of the last response; null without one."
    )
    error = serializers.CharField(help_text="Code of the last failure; empty after a success.")
    seconds = serializers.FloatField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)
    next_at = serializers.DateTimeField(
        allow_null=True, help_text="When the next attempt is due; null if there is none."
    )

    @extend_schema_field(serializers.DictField())
    def get_event(self, delivery: Delivery) -> dict[str, Any]:
        """Return the body of the event."""
        body: dict[str, Any] = json.loads(delivery.event.body)
        return body


@extend_schema_view(
    list=extend_schema(
        summary="List webhooks, newest first", responses=WebhookSerializer(many=True)
    ),
    create=extend_schema(
        summary="Make a webhook",
        description="The response has the secret, which is not stored and cannot be read again. "
        "Addresses of private networks are refused as those of language models are.",
        request=NewWebhookSerializer,
        responses={201: WebhookSecretSerializer},
    ),
    retrieve=extend_schema(summary="Read a webhook", responses=WebhookSerializer),
    partial_update=extend_schema(
        summary="Change a webhook, or switch it on or off",
        request=WebhookChangeSerializer,
        responses=WebhookSerializer,
    ),
    destroy=extend_schema(summary="Delete a webhook with its deliveries"),
)
@extend_schema(tags=["webhooks"])
class WebhookViewSet(ApiViewSet):
    """Webhooks of the user; an operator sees all."""

    queryset = Webhook.objects.all()
    lookup_url_kwarg = "webhook_id"
    serializer_class = WebhookSerializer

    def list(self, request: Request) -> Response:
        """List the webhooks that the user may see."""
        require_requester(request)
        rows = select_visible(request, Webhook.objects.select_related("question_set"))
        page = load_page(request, rows, NEWEST)
        body = WebhookSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    # Not repeatable by an idempotency key: the stored response would hold the secret.
    def create(self, request: Request) -> Response:
        """Create a webhook owned by the user."""
        require_requester(request)
        values = self.validate_body(NewWebhookSerializer).validated_data
        try:
            webhook, secret = create_webhook(request.user, **values)
        except WebhookError as error:
            raise _build_webhook_problem(error) from None
        return Response(
            _represent_with_secret(webhook, secret),
            status.HTTP_201_CREATED,
            headers={"Location": self.reverse_action("detail", args=[webhook.public_id])},
        )

    def retrieve(self, request: Request, webhook_id: UUID) -> Response:
        """Return a webhook."""
        return Response(WebhookSerializer(self._find_webhook(request, webhook_id)).data)

    def partial_update(self, request: Request, webhook_id: UUID) -> Response:
        """Change the submitted values of a webhook."""
        webhook = self._find_webhook(request, webhook_id)
        given = self.validate_body(WebhookChangeSerializer, partial=True).validated_data
        is_on = given.pop("is_on", None)
        chosen = webhook.question_set
        values = {
            "name": webhook.name,
            "url": webhook.url,
            "events": webhook.events,
            "question_set": chosen.public_id if chosen else None,
        }
        try:
            edit_webhook(webhook, **{**values, **given})
        except WebhookError as error:
            raise _build_webhook_problem(error) from None
        if is_on is not None:
            set_webhook_state(webhook, on=is_on)
        return Response(WebhookSerializer(webhook).data)

    def destroy(self, request: Request, webhook_id: UUID) -> Response:
        """Delete a webhook."""
        self._find_webhook(request, webhook_id).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="webhooks_secret",
        summary="Replace the secret of a webhook",
        description="The new secret signs from now on, also deliveries that wait.",
        request=None,
        responses=WebhookSecretSerializer,
    )
    def renew(self, request: Request, webhook_id: UUID) -> Response:
        """Replace the secret and return the new one."""
        webhook = self._find_webhook(request, webhook_id)
        return Response(_represent_with_secret(webhook, renew_secret(webhook)))

    @extend_schema(
        operation_id="webhooks_test",
        summary="Queue a test event",
        description="Also for a webhook that is off. A test event is sent once.",
        request=None,
        responses={202: DeliverySerializer},
    )
    def test(self, request: Request, webhook_id: UUID) -> Response:
        """Queue a test event."""
        delivery = queue_test_event(self._find_webhook(request, webhook_id))
        return Response(DeliverySerializer(delivery).data, status.HTTP_202_ACCEPTED)

    @extend_schema(
        operation_id="webhooks_deliveries",
        summary="List the deliveries of a webhook, newest first",
        responses=DeliverySerializer(many=True),
    )
    def deliveries(self, request: Request, webhook_id: UUID) -> Response:
        """List the deliveries of a webhook."""
        rows = self._find_webhook(request, webhook_id).deliveries.select_related("event")
        page = load_page(request, rows, NEWEST)
        body = DeliverySerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="webhooks_deliveries_again",
        summary="Queue a delivery again",
        description="The event has the same id. 409 while it waits.",
        request=None,
        responses={202: DeliverySerializer},
    )
    def again(self, request: Request, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Queue a delivery again."""
        rows = self._find_webhook(request, webhook_id).deliveries.select_related("event")
        delivery = rows.filter(public_id=delivery_id).first()
        if delivery is None:
            raise Http404
        if not queue_delivery_again(delivery):
            raise ApiProblem("conflict", "The delivery waits already.", reason="waits")
        delivery.refresh_from_db()
        return Response(DeliverySerializer(delivery).data, status.HTTP_202_ACCEPTED)

    def _find_webhook(self, request: Request, webhook_id: UUID) -> Webhook:
        """Return a webhook that the user may change; raise Http404 for another."""
        rows = Webhook.objects.select_related("owner", "question_set")
        return get_editable(request, rows, webhook_id)


def _represent_with_secret(webhook: Webhook, secret: str) -> dict[str, Any]:
    """Return a webhook with its secret as JSON values."""
    return {**WebhookSerializer(webhook).data, "secret": secret}


def _build_webhook_problem(error: WebhookError) -> ApiProblem:
    """Return the API error for a webhook that cannot be stored."""
    if error.code not in CONFLICTS:
        return build_field_problem(error.field, str(error), error.code)
    faults = [Fault(str(error), f"#/{error.field}", code=error.code)] if error.field else []
    return ApiProblem("conflict", str(error), faults, reason=error.code)
