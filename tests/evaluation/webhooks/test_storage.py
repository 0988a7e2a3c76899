"""Events are recorded with what they report, once each, for those who may know."""

import json
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.answering import collecting
from annotations.answering.finishing import submit
from annotations.answering.links import Visitor
from annotations.answering.places import reserve
from annotations.models import Membership, Share, Submission, Team
from evaluation.consensus.parameters import AqerParameters
from evaluation.deletion.storage.record import find_set_dependents
from evaluation.models import Alarm, Delivery, Event, Run, Webhook
from evaluation.runs.background import runs
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.checkpoints import record_run_end, store_failed_run
from evaluation.webhooks.messages import EVENT_TYPES, WebhookError
from evaluation.webhooks.storage import (
    MOST_WEBHOOKS,
    create_webhook,
    derive_secret,
    edit_webhook,
    find_subscribed_webhooks,
    has_valid_secret,
    queue_delivery_again,
    queue_test_event,
    renew_secret,
    set_webhook_state,
)
from tests.annotations import world as crowd

URL = "https://example.org/hook"
ALL = list(EVENT_TYPES)


def types():
    return list(Event.objects.order_by("pk").values_list("type", flat=True))


def body_of(event_type):
    return json.loads(Event.objects.get(type=event_type).body)


@pytest.fixture
def run(rivers, rana):
    return Run.objects.create(owner=rana, version=rivers, name="first try")


def fail(run):
    assert store_failed_run(run.pk, Q(), "ValueError: ada wrote 'north of the hills'")


def test_a_finished_grading_is_an_event_with_names_and_ids_and_no_texts(hook, rivers, rana):
    run = runs.queue_run(rivers, rana.pk, AqerParameters(embedder="bow", bootstrap=0), name="one")
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    body = body_of("run.finished")
    event = Event.objects.get(type="run.finished")
    question_set = rivers.question_set
    assert body == {
        "id": str(event.public_id),
        "type": "run.finished",
        "created_at": body["created_at"],
        "question_set": {"id": str(question_set.public_id), "name": "rivers", "version": 1},
        "run": {"id": str(run.public_id), "name": "one", "type": "aqer", "state": "done"},
    }
    assert Delivery.objects.filter(event=event, webhook=hook, state="waiting").count() == 1
    for other in Event.objects.all():
        assert not [word for word in ("ada", "ben", "north", "hills") if word in other.body]


def test_alarms_of_a_finished_grading_are_one_event_without_settled_ones_and_notices(
    hook, run, rana
):
    Run.objects.update(state="done", finished_at=timezone.now())
    for place, (severity, state) in enumerate(
        [("alarm", "open"), ("alarm", "dismissed"), ("notice", "open"), ("alarm", "examined")]
    ):
        kind = f"kind{place}"
        Alarm.objects.create(
            run=run, place=place, kind=kind, severity=severity, state=state, message={}
        )
    record_run_end(run.pk)
    assert types() == ["run.finished", "alarm.raised"]
    assert body_of("alarm.raised")["alarms"] == [
        {"number": 0, "kind": "kind0"},
        {"number": 3, "kind": "kind3"},
    ]
    assert body_of("alarm.raised")["run"]["id"] == str(run.public_id)


def test_a_grading_without_alarms_raises_none(hook, run):
    Run.objects.update(state="done", finished_at=timezone.now())
    record_run_end(run.pk)
    assert types() == ["run.finished"]


def test_each_way_in_which_a_run_fails_is_an_event_without_the_reason(hook, rivers, rana, settings):
    Run.objects.create(owner=rana, version=rivers)
    claim_next_run("ann").store_failure("ValueError: north of the hills")
    assert types() == ["run.failed"]
    assert body_of("run.failed")["run"]["state"] == "failed"
    assert "hills" not in Event.objects.get().body
    given_up = Run.objects.create(
        owner=rana, version=rivers, state="running", attempt=5, crashes=4, lease_owner="gone",
        lease_until=timezone.now() - timedelta(hours=1), started_at=timezone.now(),
    )  # fmt: skip
    assert claim_next_run("ann") is None
    given_up.refresh_from_db()
    assert (given_up.state, given_up.crashes, types()) == ("failed", 5, ["run.failed"] * 2)


def test_a_failure_that_a_lost_claim_reports_is_none(hook, rivers, rana):
    Run.objects.create(owner=rana, version=rivers)
    claim = claim_next_run("ann")
    Run.objects.update(attempt=9)
    claim.store_failure("too late")
    assert types() == []


def test_an_event_is_undone_with_what_it_reports(hook, run):
    with transaction.atomic():
        fail(run)
        assert types() == ["run.failed"]
        transaction.set_rollback(True)
    run.refresh_from_db()
    assert (run.state, types(), Delivery.objects.count()) == ("queued", [], 0)


def test_the_same_is_recorded_once(hook, run):
    fail(run)
    record_run_end(run.pk)
    assert (types(), Delivery.objects.count()) == (["run.failed"], 1)


def test_a_cancelled_run_is_no_event(hook, run):
    assert runs.cancel_run(run)
    assert types() == []


def test_only_webhooks_that_want_a_type_get_it_and_none_is_stored_without_any(hook, run, rana):
    edit_webhook(hook, "lab", URL, ["run.finished"])
    fail(run)
    assert types() == []
    second, _ = create_webhook(rana, "second", URL, ["run.failed"])
    record_run_end(run.pk)
    assert list(Delivery.objects.values_list("webhook", flat=True)) == [second.pk]


def test_a_webhook_that_is_off_gets_nothing(hook, run):
    set_webhook_state(hook, on=False)
    fail(run)
    assert types() == []


def named(question_set):
    return [webhook.name for webhook in find_subscribed_webhooks(question_set)]


def test_only_users_who_may_edit_a_set_get_its_events(rivers, rana, otto):
    question_set = rivers.question_set
    tara, vera = crowd.user("tara", is_staff=True), crowd.user("vera", is_staff=True)
    ida = crowd.user("ida", is_superuser=True)
    for user in (rana, otto, tara, vera, ida):
        create_webhook(user, user.username, URL, ALL)
    assert named(question_set) == ["rana"]
    Share.objects.create(question_set=question_set, user=vera, role="viewer", pending=False)
    question_set.team = Team.objects.create(owner=rana, name="river group")
    question_set.save()
    invited = Membership.objects.create(team=question_set.team, user=tara, pending=True)
    assert named(question_set) == ["rana"]
    invited.pending = False
    invited.save()
    assert named(question_set) == ["rana", "tara"]
    create_webhook(ida, "of this set", URL, ALL, question_set.public_id)
    assert named(question_set) == ["rana", "tara", "of this set"]
    tara.is_staff = False
    tara.save()
    rana.is_active = False
    rana.save()
    assert named(question_set) == ["of this set"]


def test_a_webhook_of_one_set_gets_no_events_of_another(rivers, rana):
    other = crowd.version(rana, "lakes").question_set
    create_webhook(rana, "lakes only", URL, ALL, other.public_id)
    assert named(rivers.question_set) == []
    assert named(other) == ["lakes only"]


@pytest.mark.parametrize(
    ("values", "code", "field"),
    [
        ({"url": "http://10.0.0.1/"}, "address", "url"),
        ({"url": "nonsense"}, "no_url", "url"),
        ({"events": []}, "no_events", "events"),
        ({"name": "lab"}, "name_taken", "name"),
    ],
)
def test_a_webhook_that_cannot_be_used_is_not_stored(hook, rana, values, code, field):
    with pytest.raises(WebhookError) as refused:
        create_webhook(rana, **{"name": "new", "url": URL, "events": ALL, **values})
    assert (refused.value.code, refused.value.field) == (code, field)
    assert Webhook.objects.count() == 1


def test_a_set_of_another_user_cannot_be_chosen(rivers, otto):
    with pytest.raises(WebhookError, match="question set") as refused:
        create_webhook(otto, "curious", URL, ALL, rivers.question_set.public_id)
    assert refused.value.code == "unknown_set"


def test_a_user_has_a_limited_number_of_webhooks(rana):
    for number in range(MOST_WEBHOOKS):
        create_webhook(rana, str(number), URL, ALL)
    with pytest.raises(WebhookError) as refused:
        create_webhook(rana, "one more", URL, ALL)
    assert refused.value.code == "too_many"


def test_the_secret_is_not_stored_and_can_be_replaced(hook, settings):
    first = hook.shown
    stored = Webhook.objects.filter(pk=hook.pk).values().get()
    assert first.removeprefix("whsec_") not in str(stored)
    hook = Webhook.objects.get()
    assert derive_secret(hook) == first
    second = renew_secret(hook)
    assert second != first
    hook = Webhook.objects.get()
    assert derive_secret(hook) == second
    assert has_valid_secret(hook)
    settings.SECRET_KEY = "another key of more than thirty-two characters"
    assert not has_valid_secret(hook)


def test_one_test_event_waits_at_a_time_and_names_no_set(hook):
    first = queue_test_event(hook)
    assert queue_test_event(hook) == first
    assert json.loads(first.event.body) == {
        "id": str(first.event.public_id),
        "type": "test",
        "created_at": json.loads(first.event.body)["created_at"],
    }
    assert not queue_delivery_again(first)
    Delivery.objects.update(state="failed", next_at=None, attempts=1, tries=1)
    assert queue_test_event(hook) != first
    assert queue_delivery_again(first)
    first.refresh_from_db()
    assert (first.state, first.attempts, first.tries) == ("waiting", 1, 0)


def answered(collection, name):
    """A worker who has answered every page and not submitted yet."""
    submission = reserve(collection, Visitor(name))
    for assignment in submission.assignments.all():
        submission.responses.create(question=assignment.question, text="north", status="text")
    submission.assignments.update(shown_at=timezone.now(), answered_at=timezone.now())
    return Submission.objects.get(pk=submission.pk)


@pytest.fixture
def collection(rana):
    version = crowd.version(rana, "tides")
    return collecting.publish(version.question_set, places=2, protocol="open").collection


def test_a_collection_is_full_with_the_last_submission_and_not_with_the_last_reservation(
    hook, collection
):
    first, second = answered(collection, "ada"), answered(collection, "ben")
    submit(first)
    assert types() == []  # the second place is only reserved
    submit(second)
    assert types() == ["collection.full"]
    assert body_of("collection.full")["collection"] == {
        "id": str(collection.public_id),
        "places": 2,
        "answers_per_question": None,
    }
    assert "ada" not in Event.objects.get().body
    submit(second)
    assert types() == ["collection.full"]


def test_more_places_make_it_full_a_second_time(hook, collection):
    for name in ("ada", "ben"):
        submit(answered(collection, name))
    collection.places = 3
    collection.save()
    submit(answered(collection, "cy"))
    assert types() == ["collection.full"] * 2


def test_it_is_full_once_every_question_has_enough_answers(hook, rana):
    version = crowd.version(rana, "lakes")
    made = collecting.publish(
        version.question_set, places=9, protocol="open", answers_per_question=1,
        questions_per_worker=2,
    ).collection  # fmt: skip
    submit(answered(made, "ada"))
    assert body_of("collection.full")["collection"]["answers_per_question"] == 1


def test_without_a_webhook_a_submission_costs_one_query_more(collection, rana):
    waiting = answered(collection, "ada")
    with CaptureQueriesContext(connection) as queries:
        submit(waiting)
    assert len([one for one in queries if "evaluation_webhook" in one["sql"]]) == 1


def test_a_webhook_goes_with_its_set_and_its_events_with_the_set(hook, run, rana):
    create_webhook(rana, "of rivers", URL, ALL, run.version.question_set.public_id)
    fail(run)
    assert Delivery.objects.count() == 2
    counts = find_set_dependents(run.version.question_set).counts
    assert [n for label, n in counts.items() if "webhook" in label] == [1, 1]
    run.version.question_set.delete()
    assert (types(), Delivery.objects.count()) == ([], 0)
    assert list(Webhook.objects.values_list("name", flat=True)) == ["lab"]
