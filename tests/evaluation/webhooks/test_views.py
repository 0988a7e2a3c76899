"""The pages of a webhook: its secret shows once, and they say what happened to each event."""

import re

import pytest
from django.db.models import Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Delivery, Run, Webhook
from evaluation.runs.steps.checkpoints import store_failed_run
from evaluation.site.overview import find_items_needing_attention
from evaluation.webhooks.storage import (
    create_webhook,
    derive_secret,
    queue_test_event,
    set_webhook_state,
)
from tests.annotations import world
from tests.evaluation.site.handles import error_codes

GIVEN = {"name": "bot", "url": "https://example.org/hook", "events": ["run.failed"]}


@pytest.fixture
def client(rana):
    signed_in = Client()
    signed_in.force_login(rana)
    return signed_in


def page_of(hook, name="webhook", *more):
    return reverse(f"admin:{name}", args=[hook.public_id, *more])


def states(response):
    return set(re.findall(r'data-state="(\w+)"', response.content.decode()))


def test_the_secret_is_on_the_page_that_follows_the_form_and_on_no_other(client):
    made = client.post(reverse("admin:webhook-new"), GIVEN)
    webhook = Webhook.objects.get()
    secret = derive_secret(webhook)
    assert made.context_data["secret"] == secret
    assert made["Cache-Control"].count("no-store") == 1
    assert "new_secret" in states(made)
    again = client.get(page_of(webhook))
    assert secret not in again.content.decode()
    assert (webhook.events, webhook.question_set) == (["run.failed"], None)
    replaced = client.post(page_of(webhook, "webhook-secret"))
    assert replaced.context_data["secret"] not in ("", secret)


def test_a_name_that_is_taken_marks_its_field_and_keeps_what_was_typed(client, hook):
    refused = client.post(reverse("admin:webhook-new"), GIVEN | {"name": "lab"})
    assert refused.status_code == 400
    form = refused.context_data["form"]
    assert error_codes(form.errors.as_data()["name"]) == ["name_taken"]
    assert form["url"].value() == GIVEN["url"]
    assert Webhook.objects.count() == 1


def test_a_set_is_chosen_among_those_that_the_owner_edits(client, rivers, otto, hook):
    other = world.version(otto, "lakes").question_set
    chosen = str(rivers.question_set.public_id)
    form = client.get(reverse("admin:webhook-new")).context_data["form"]
    assert [value for value, _ in form.fields["question_set"].choices] == ["", chosen]
    client.post(page_of(hook, "webhook-edit"), GIVEN | {"question_set": chosen})
    hook.refresh_from_db()
    assert hook.question_set == rivers.question_set
    shown = client.get(page_of(hook, "webhook-edit")).context_data["form"]
    assert shown["question_set"].value() == chosen
    strange = GIVEN | {"question_set": str(other.public_id)}
    refused = client.post(page_of(hook, "webhook-edit"), strange)
    assert error_codes(refused.context_data["form"].errors.as_data()["question_set"]) == [
        "invalid_choice"
    ]


def test_while_a_test_event_is_sent_the_page_loads_itself_again(client, hook):
    assert "Refresh" not in client.get(page_of(hook))
    client.post(page_of(hook, "webhook-test"))
    sending = client.get(page_of(hook))
    assert sending["Refresh"] == "3"
    assert {"waiting", "no_process"} <= states(sending)
    Delivery.objects.update(
        state="failed", next_at=None, attempts=1, tries=1, error="status", status=500,
        last_at=timezone.now(), seconds=0.25,
    )  # fmt: skip
    failed = client.get(page_of(hook))
    assert "Refresh" not in failed
    assert "failed" in states(failed)
    assert 'data-error="status"' in failed.content.decode()
    client.post(page_of(hook, "webhook-again", Delivery.objects.get().public_id))
    assert Delivery.objects.get().state == "waiting"


def test_what_waits_for_a_webhook_that_is_off_is_not_being_sent(client, hook, rivers, rana):
    run = Run.objects.create(owner=rana, version=rivers)
    store_failed_run(run.pk, Q(), "no memory")
    assert client.get(page_of(hook))["Refresh"] == "3"
    set_webhook_state(hook, on=False)
    assert "Refresh" not in client.get(page_of(hook))


def test_a_delivery_of_another_webhook_is_not_there(client, hook, otto):
    other, _ = create_webhook(otto, "mine", "https://example.org/", ["run.failed"])
    delivery = queue_test_event(other)
    assert client.post(page_of(hook, "webhook-again", delivery.public_id)).status_code == 404


def test_it_is_switched_off_and_on_and_what_the_site_switched_off_needs_attention(
    client, hook, rana
):
    client.post(page_of(hook, "webhook-switch"), {"on": "0"})
    hook.refresh_from_db()
    assert (hook.is_on, hook.off_reason) == (False, "user")
    assert find_items_needing_attention(rana, True) == []
    Webhook.objects.update(off_reason="failures", failures=20)
    (item,) = find_items_needing_attention(rana, True)
    assert (item.code, item.level, item.link) == ("webhook_off", "bad", page_of(hook))
    assert "failures" in states(client.get(page_of(hook)))
    assert "failures" in states(client.get(reverse("admin:webhooks")))
    client.post(page_of(hook, "webhook-switch"), {"on": "1"})
    hook.refresh_from_db()
    assert (hook.is_on, hook.failures) == (True, 0)


def test_a_webhook_is_deleted_after_a_question(client, hook):
    queue_test_event(hook)
    asked = client.get(page_of(hook, "webhook-delete"))
    assert asked.context_data["n_deliveries"] == 1
    client.post(page_of(hook, "webhook-delete"))
    assert (Webhook.objects.count(), Delivery.objects.count()) == (0, 0)


def test_an_operator_sees_whose_each_is(hook, otto):
    otto.is_superuser = True
    otto.save()
    signed_in = Client()
    signed_in.force_login(otto)
    said = signed_in.get(reverse("admin:webhooks")).content.decode()
    assert "rana" in said
