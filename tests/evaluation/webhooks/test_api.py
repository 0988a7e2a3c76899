"""Webhooks over REST: the secret comes once, and nothing stores it."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.models import IdempotentRequest
from evaluation.models import Delivery, Webhook
from evaluation.webhooks.storage import derive_secret, queue_test_event

GIVEN = {"name": "bot", "url": "https://example.org/hook", "events": ["run.failed"]}
LIST = reverse("api:webhook-list")


@pytest.fixture
def client(rana):
    signed_in = APIClient()
    signed_in.force_authenticate(rana)
    return signed_in


def address_of(name, *ids):
    return reverse(f"api:{name}", args=ids)


def test_the_secret_is_in_the_response_that_makes_it_alone(client):
    made = client.post(LIST, GIVEN, format="json", headers={"Idempotency-Key": "once"})
    assert made.status_code == 201
    webhook = Webhook.objects.get()
    assert made.data["secret"] == derive_secret(webhook)
    assert IdempotentRequest.objects.count() == 0
    detail = address_of("webhook-detail", webhook.public_id)
    assert made["Location"].endswith(detail)
    assert "secret" not in client.get(detail).data
    assert "secret" not in client.get(LIST).data["results"][0]
    renewed = client.post(address_of("webhook-secret", webhook.public_id))
    assert renewed.data["secret"] != made.data["secret"]


@pytest.mark.parametrize(
    ("values", "status", "pointer", "code"),
    [
        ({"url": "http://10.0.0.1/"}, 400, "#/url", "address"),
        ({"url": "nonsense"}, 400, "#/url", "no_url"),
        ({"events": ["run.began"]}, 400, "#/events/0", "invalid_choice"),
        ({"events": []}, 400, "#/events", "empty"),
        ({"name": "lab"}, 409, "#/name", "name_taken"),
        (
            {"question_set": "01980000-0000-7000-8000-00000000a001"},
            *(400, "#/question_set", "unknown_set"),
        ),
    ],
)
def test_what_cannot_be_stored_is_named(client, hook, values, status, pointer, code):
    refused = client.post(LIST, GIVEN | values, format="json")
    assert refused.status_code == status
    (fault,) = refused.json()["errors"]
    assert (fault["pointer"], fault["code"]) == (pointer, code)
    assert Webhook.objects.count() == 1


def test_a_change_leaves_the_other_values(client, hook, rivers, receiver):
    detail = address_of("webhook-detail", hook.public_id)
    chosen = str(rivers.question_set.public_id)
    client.patch(detail, {"question_set": chosen}, format="json")
    changed = client.patch(detail, {"is_on": False}, format="json").data
    assert (changed["is_on"], changed["off_reason"]) == (False, "user")
    assert (changed["url"], changed["question_set"]) == (receiver.url, chosen)
    changed = client.patch(detail, {"question_set": None, "is_on": True}, format="json").data
    assert (changed["question_set"], changed["is_on"], changed["off_at"]) == (None, True, None)


def test_a_test_event_and_its_delivery_are_read(client, hook):
    sent = client.post(address_of("webhook-test", hook.public_id))
    assert (sent.status_code, sent.data["state"], sent.data["type"]) == (202, "waiting", "test")
    again = address_of("webhook-delivery-again", hook.public_id, sent.data["id"])
    waits = client.post(again)
    assert (waits.status_code, waits.json()["reason"]) == (409, "waits")
    Delivery.objects.update(
        state="failed", next_at=None, attempts=1, tries=1, error="timeout", seconds=10.0
    )
    (row,) = client.get(address_of("webhook-deliveries", hook.public_id)).data["results"]
    assert (row["error"], row["status"], row["attempts"]) == ("timeout", None, 1)
    assert row["event"]["type"] == "test"
    assert client.post(again).status_code == 202
    assert Delivery.objects.get().state == "waiting"


def test_of_another_users_webhook_nothing_is_there(client, hook, otto):
    delivery = queue_test_event(hook)
    client.force_authenticate(otto)
    assert client.get(LIST).data["results"] == []
    for method, name, ids in (
        ("get", "webhook-detail", [hook.public_id]),
        ("patch", "webhook-detail", [hook.public_id]),
        ("delete", "webhook-detail", [hook.public_id]),
        ("post", "webhook-secret", [hook.public_id]),
        ("post", "webhook-test", [hook.public_id]),
        ("get", "webhook-deliveries", [hook.public_id]),
        ("post", "webhook-delivery-again", [hook.public_id, delivery.public_id]),
    ):
        assert getattr(client, method)(address_of(name, *ids)).status_code == 404


def test_it_is_deleted(client, hook):
    assert client.delete(address_of("webhook-detail", hook.public_id)).status_code == 204
    assert Webhook.objects.count() == 0
