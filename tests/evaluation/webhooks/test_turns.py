"""Due deliveries are sent at least once, again after failures, and one requester's in turn."""

import json
import threading
import time
from datetime import timedelta

import pytest
from django.db.models import F, Q
from django.utils import timezone

from evaluation.deletion.storage import removals
from evaluation.models import Delivery, Event, Run, Webhook
from evaluation.runs.steps.checkpoints import store_failed_run
from evaluation.webhooks.messages import EVENT_TYPES
from evaluation.webhooks.storage import (
    AttemptOutcome,
    create_webhook,
    queue_delivery_again,
    queue_test_event,
    renew_secret,
    set_webhook_state,
)
from evaluation.webhooks.turns import (
    MOST_FAILURES,
    PAUSES,
    ClaimedDelivery,
    Sender,
    claim_due_deliveries,
    store_outcome,
)
from tests.evaluation.webhooks.receiver import open_receiver

ALL = list(EVENT_TYPES)
OK = AttemptOutcome("", 200, 0.1)
FAILED = AttemptOutcome("status", 500, 0.1)


@pytest.fixture
def sender():
    made = Sender()
    yield made
    made.end()


def send_all(sender):
    """Step until nothing is being sent and nothing is due."""
    for _ in range(400):
        if not sender.process_due_deliveries() and not due().exists():
            return
        time.sleep(0.01)
    raise AssertionError("still being sent")


def due():
    ready = Q(webhook__off_at=None) | Q(event__type="test")
    return Delivery.objects.filter(ready, state="waiting", next_at__lte=timezone.now())


def failed_run(owner, version, name=""):
    run = Run.objects.create(owner=owner, version=version, name=name)
    store_failed_run(run.pk, Q(), "no memory")
    return run


@pytest.fixture
def delivery(hook, rivers, rana):
    failed_run(rana, rivers)
    return Delivery.objects.get()


def reread(delivery):
    return Delivery.objects.select_related("webhook").get(pk=delivery.pk)


def attempt(delivery, outcome):
    """Let one attempt have an outcome, at once."""
    Delivery.objects.filter(pk=delivery.pk, state="waiting").update(next_at=timezone.now())
    (claimed,) = claim_due_deliveries(1)
    store_outcome(ClaimedDelivery(claimed.pk, claimed.attempts), outcome)
    return reread(delivery)


def test_an_event_arrives_signed_and_is_marked_as_delivered(delivery, sender, receiver, hook):
    send_all(sender)
    (came,) = receiver.received
    event = Event.objects.get()
    assert came.body.decode() == event.body
    assert came.headers["webhook-id"] == str(event.public_id) == json.loads(event.body)["id"]
    sent = reread(delivery)
    assert (sent.state, sent.attempts, sent.status, sent.error) == ("delivered", 1, 204, "")
    assert (sent.next_at, sent.claimed_until) == (None, None)
    assert sent.last_at is not None
    assert 0 < sent.seconds < 5


def test_a_failed_attempt_is_repeated_after_growing_pauses_and_given_up_in_the_end(delivery):
    pauses = []
    for _ in PAUSES:
        failed = attempt(delivery, FAILED)
        assert (failed.state, failed.error, failed.status) == ("waiting", "status", 500)
        pauses.append((failed.next_at - failed.last_at).total_seconds())
    assert pauses == pytest.approx(PAUSES, abs=1)
    last = attempt(delivery, FAILED)
    assert (last.state, last.attempts, last.next_at) == ("failed", len(PAUSES) + 1, None)


def test_a_success_after_failures_ends_the_attempts_and_the_count_of_failures(delivery):
    attempt(delivery, FAILED)
    assert reread(delivery).webhook.failures == 1
    assert attempt(delivery, OK).state == "delivered"
    assert reread(delivery).webhook.failures == 0


@pytest.mark.parametrize(("asked", "pause"), [(5, 30), (300, 300), (10**7, 43_200)])
def test_a_response_may_make_the_pause_longer_up_to_a_bound(delivery, asked, pause):
    failed = attempt(delivery, AttemptOutcome("status", 503, 0.1, asked))
    assert (failed.next_at - failed.last_at).total_seconds() == pytest.approx(pause, abs=1)


def test_many_failures_in_a_row_switch_a_webhook_off_and_what_waits_is_sent_later(
    delivery, receiver, sender
):
    Webhook.objects.update(failures=MOST_FAILURES - 2)
    attempt(delivery, FAILED)
    assert reread(delivery).webhook.is_on
    attempt(delivery, FAILED)
    webhook = reread(delivery).webhook
    assert (webhook.off_reason, webhook.failures) == ("failures", MOST_FAILURES)
    Delivery.objects.update(next_at=timezone.now())
    assert sender.process_due_deliveries() == 0
    assert receiver.received == []
    set_webhook_state(webhook, on=True)
    send_all(sender)
    assert len(receiver.received) == 1
    assert reread(delivery).state == "delivered"


def test_a_response_of_410_switches_it_off_at_once(delivery):
    attempt(delivery, AttemptOutcome("status", 410, 0.1))
    assert reread(delivery).webhook.off_reason == "gone"


def test_with_another_secret_key_nothing_is_sent_before_a_new_secret_is_made(
    delivery, receiver, sender, settings
):
    settings.SECRET_KEY = "another key of more than thirty-two characters"
    sender.process_due_deliveries()
    failed = reread(delivery)
    assert (failed.error, failed.webhook.off_reason) == ("key_changed", "secret")
    assert receiver.received == []
    renew_secret(failed.webhook)
    set_webhook_state(failed.webhook, on=True)
    Delivery.objects.update(next_at=timezone.now())
    send_all(sender)
    assert reread(delivery).state == "delivered"


def test_who_no_longer_edits_the_set_is_sent_nothing_any_more(delivery, receiver, sender, otto):
    question_set = delivery.event.question_set
    question_set.owner = otto
    question_set.save()
    sender.process_due_deliveries()
    refused = reread(delivery)
    assert (refused.state, refused.error, receiver.received) == ("failed", "no_access", [])


def test_an_address_that_became_forbidden_gets_nothing(delivery, receiver, sender, settings):
    settings.MODEL_NETWORKS = []
    sender.process_due_deliveries()
    for _ in range(400):
        if not sender.process_due_deliveries():
            break
        time.sleep(0.01)
    assert (reread(delivery).error, receiver.received) == ("address_refused", [])


def test_a_test_event_is_sent_once_also_where_the_webhook_is_off(hook, receiver, sender):
    set_webhook_state(hook, on=False)
    receiver.status = 500
    tried = queue_test_event(hook)
    send_all(sender)
    tried = reread(tried)
    assert (tried.state, tried.attempts, tried.status) == ("failed", 1, 500)
    assert tried.webhook.failures == 0
    assert len(receiver.received) == 1


def test_sent_again_it_has_the_same_id_and_its_attempts_begin_anew(delivery, receiver, sender):
    send_all(sender)
    assert queue_delivery_again(reread(delivery))
    send_all(sender)
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert reread(delivery).attempts == 2


def test_of_one_requester_one_is_sent_at_a_time_and_others_do_not_wait(
    delivery, rivers, rana, otto
):
    failed_run(rana, rivers)
    create_webhook(otto, "mine", "https://example.org/", ALL)
    of_otto = queue_test_event(Webhook.objects.get(owner=otto))
    first = claim_due_deliveries(8)
    assert [one.pk for one in first] == [delivery.pk, of_otto.pk]
    assert claim_due_deliveries(8) == []
    store_outcome(ClaimedDelivery(delivery.pk, 0), OK)
    (second,) = claim_due_deliveries(8)
    assert second.webhook.owner == rana
    assert second.pk != delivery.pk


def test_a_receiver_that_hangs_holds_up_its_own_requester_alone(
    hook, delivery, rivers, rana, otto, receiver, sender
):
    receiver.silent = threading.Event()
    with open_receiver() as other:
        webhook, _ = create_webhook(otto, "mine", other.url, ALL)
        queue_test_event(webhook)
        for _ in range(400):
            sender.process_due_deliveries()
            if other.received:
                break
            time.sleep(0.01)
        assert len(other.received) == 1
        assert reread(delivery).state == "waiting"
    receiver.silent.set()


def test_what_a_killed_process_had_claimed_is_sent_by_another_one(delivery, receiver, sender):
    assert claim_due_deliveries(8)
    assert sender.process_due_deliveries() == 0
    # Now the claim is as old as it would be after a minute.
    Delivery.objects.update(claimed_until=F("claimed_until") - timedelta(seconds=61))
    send_all(sender)
    assert len(receiver.received) == 1
    assert reread(delivery).state == "delivered"


def test_an_outcome_that_comes_after_another_ones_changes_nothing(delivery):
    claimed = ClaimedDelivery(delivery.pk, 0)
    store_outcome(claimed, OK)
    store_outcome(claimed, FAILED)
    unchanged = reread(delivery)
    assert (unchanged.state, unchanged.attempts, unchanged.webhook.failures) == ("delivered", 1, 0)


def test_an_outcome_of_a_deleted_webhook_is_dropped(delivery):
    claimed = ClaimedDelivery(delivery.pk, 0)
    Webhook.objects.all().delete()
    store_outcome(claimed, OK)
    assert Delivery.objects.count() == 0


def test_events_of_a_month_ago_are_deleted_with_their_deliveries(delivery, rivers, rana):
    failed_run(rana, rivers)
    Event.objects.filter(deliveries=delivery).update(
        created_at=timezone.now() - removals.EVENTS_STORED - timedelta(minutes=1)
    )
    assert removals.delete_expired()["events"] == 1
    assert (Event.objects.count(), Delivery.objects.count()) == (1, 1)
    assert removals.delete_expired()["events"] == 0


def test_what_is_expired_is_looked_for_once_an_hour(monkeypatch):
    calls = []
    monkeypatch.setattr(removals, "delete_expired", lambda: calls.append(True))
    now = [0.0]
    hourly = removals.Retention(clock=lambda: now[0])
    for now[0] in (0.0, 10.0, 3599.0, 3600.0, 3601.0):
        hourly.step()
    assert len(calls) == 2
