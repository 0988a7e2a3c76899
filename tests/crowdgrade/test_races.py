"""Requests that meet on PostgreSQL end in an answer for each of them, and never in an error.

Each test has a database of its own, a copy of that of the tests: what its threads commit is in no
transaction that could be rolled back, and what guards make append-only cannot be emptied either.
"""

import json
import threading
from collections import Counter
from urllib.parse import urlsplit

import pytest
from django.db import connection, connections
from django.test import Client
from django.urls import reverse

from annotations.answering.links import build_submission_token
from annotations.models import OtherText, QuestionSet, Response, Submission
from evaluation.deletion.storage import removals
from evaluation.models import HumanJudgement, JudgementRequest, Removal
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published
from tests.annotations.world import user
from tests.conftest import new_database
from tests.evaluation.grading.results import world

pytestmark = [
    pytest.mark.database,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs DATABASE_URL"),
]
TIMES = 12
BOTH_TEXTS_SHOWN = "both texts shown"
"""The page of a form that comes after another tab's draft (400); any other 400 is a fault."""


@pytest.fixture(autouse=True)
def own_database(django_db_setup, django_db_blocker):
    """Let every thread work on a copy of the tests' database."""
    names = connection.settings_dict
    common = names["NAME"]
    with django_db_blocker.unblock():
        connections.close_all()  # a database with connections cannot be copied
        with new_database(common) as address:
            names["NAME"] = urlsplit(address).path[1:]
            try:
                yield
            finally:
                connections.close_all()
                names["NAME"] = common


def requester():
    return user("rana", is_staff=True)


def at_once(*actions):
    """Start all actions at the same moment, each in a thread; the status of each one's answer."""
    start, statuses = threading.Barrier(len(actions)), []

    def run(act):
        try:
            start.wait(60)
            statuses.append(act(Client(raise_request_exception=False)).status_code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(act,)) for act in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(statuses) == len(actions)
    return Counter(statuses)


def as_user(who, act):
    """Return an action of somebody who is signed in."""

    def acting(client):
        client.force_login(who)
        return act(client)

    return acting


def test_who_withdraws_while_their_page_saves_is_withdrawn_and_nothing_is_left():
    made = published(made_set(requester(), "tides"), protocol="open", places=10)
    for number in range(4):
        browser = Browser(made, f"w{number}")
        browser.begin()
        fields = list(browser.page.form["texts"])
        submission = Submission.objects.get(worker__external_id=f"w{number}")
        place = build_submission_token(submission)

        def at(name, *more, place=place):
            return reverse(f"worker:{name}", args=[place, *more])

        def withdraw(client, at=at):
            return client.post(at("withdraw"), {"sure": "yes"})

        def page(client, at=at, fields=fields):
            response = client.post(at("page", 1), dict.fromkeys(fields, "x"))
            if 'data-error="other_text"' in response.content.decode():
                response.status_code = BOTH_TEXTS_SHOWN
            return response

        def draft(tab, at=at, field=fields[0]):
            sent = {"question": field.removeprefix("answer-"), "text": f"of {tab}", "tab": tab}
            return lambda client: client.post(at("draft"), {**sent, "revision": "0"})

        def hand_in(client, at=at):
            return client.post(at("review"), {})

        statuses = at_once(
            *[withdraw] * 3, *[page] * 3, *(draft(f"t{n}") for n in range(4)), *[hand_in] * 2
        )
        assert set(statuses) <= {200, 302, BOTH_TEXTS_SHOWN, 409, 410, 503}, statuses
        submission.refresh_from_db()
        assert submission.withdrawn_at is not None
        assert not Response.objects.filter(submission=submission).exclude(text="").exists()
        assert not OtherText.objects.filter(response__submission=submission).exists()


def test_a_deletion_that_is_pressed_several_times_at_once_begins_once():
    run = world.finished(owner=requester(), n_workers=3, n_questions=2)
    question_set = run.version.question_set
    address = reverse("admin:question-set-delete", args=[question_set.public_id])

    def press(client):
        return client.post(address, {"name": question_set.name})

    statuses = at_once(*[as_user(run.owner, press)] * TIMES)
    assert set(statuses) <= {302, 404, 409, 503}, statuses
    assert statuses[302] >= 1
    assert Removal.objects.count() == 1


def test_an_import_that_meets_the_deletion_of_its_set_is_refused_or_deleted_with_it():
    rana = requester()
    question_set = made_set(rana, "tides")
    answers = reverse("api:answer-list", args=[question_set.public_id])
    deletion = reverse("admin:question-set-delete", args=[question_set.public_id])
    rows = [{"worker": f"w{n}", "question": "q1", "answer": "so"} for n in range(20)]
    refusals = set()

    def send(client):
        sent = client.post(
            f"{answers}?create_questions=true", json.dumps({"rows": rows}), "application/json"
        )
        if sent.status_code == 400:
            refusals.update(error["code"] for error in sent.json()["errors"])
        return sent

    def remove(client):
        pressed = client.post(deletion, {"name": question_set.name})
        while removals.work_on_oldest_deletion():
            pass
        return pressed

    statuses = at_once(*[as_user(rana, act) for act in [send] * TIMES + [remove]])
    assert set(statuses) <= {200, 302, 400, 404, 409, 503}, statuses
    # From the request for deletion on, the set is archived.
    assert refusals <= {"set_archived"}
    assert statuses[302] == 1
    while removals.work_on_oldest_deletion():
        pass
    assert not QuestionSet.objects.filter(pk=question_set.pk).exists()
    assert not Submission.objects.exists()


def test_a_task_that_is_graded_several_times_at_once_has_one_grade():
    run = world.finished(owner=requester(), n_workers=3, n_questions=2)
    asked = JudgementRequest.objects.create(
        response=Response.objects.order_by("pk")[0], expert=run.owner, place=0, run=run
    )
    args = [run.version.question_set.public_id, asked.public_id]
    page, rest = reverse("admin:judge", args=args), reverse("api:judge", args=args)

    def by_page(client):
        return client.post(page, {"grade": "4"})

    def by_rest(client):
        return client.patch(rest, json.dumps({"choice": "4"}), "application/json")

    statuses = at_once(*[as_user(run.owner, by_page)] * 10, *[as_user(run.owner, by_rest)] * 10)
    assert set(statuses) <= {200, 302, 404, 409, 503}, statuses
    assert HumanJudgement.objects.count() == 1
