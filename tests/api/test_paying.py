"""The payment desk by REST: the same rows, refusals and log as on the page."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.ledger.appeals import answer_appeal, create_appeal
from annotations.ledger.decisions import decide_on_submission
from annotations.models import Decision
from tests.evaluation.payments.crowd import rivers
from tests.sentences import api_sentence

pytestmark = pytest.mark.django_db

REASON = "You answered the question that checks whether it is read otherwise than it asks for. " * 2


@pytest.fixture
def crowd(db):
    rana = User.objects.create_user("rana", is_staff=True)
    client = APIClient()
    client.force_authenticate(rana)
    version, people = rivers(rana)
    link = reverse("api:paying", args=[version.question_set.public_id])
    return client, people, link


def test_people_are_listed_filtered_and_sorted_with_evidence(crowd):
    client, _, link = crowd
    found = client.get(link, {"suggested": "reject", "sort": "-worker"}).json()["results"]
    assert [one["worker"] for one in found] == ["gus", "fay", "di", "cy", "ben"]
    ben = found[-1]
    assert ben["evidence"] == [
        {
            "category": "FAILED_CHECK",
            "offered": True,
            "message": api_sentence("paying.checks", failed=1, checks=1),
            "said": api_sentence("paying.checks", failed=1, checks=1),
        }
    ]
    assert (ben["score"], ben["decision"]) == (None, None)
    assert client.get(link, {"sort": "age"}).status_code == 400
    page = client.get(link, {"limit": 3}).json()
    assert len(page["results"]) == 3
    assert len(client.get(page["next"]).json()["results"]) == 3


def test_a_decision_is_kept_and_stands_in_the_log(crowd):
    client, people, link = crowd
    person = f"{link}people/{people['ben'].public_id}/"
    sent = {"decision": "reject", "category": "FAILED_CHECK", "reason": REASON, "seen": None}
    told = client.post(person, sent, format="json").json()
    assert told["decision"]["category"] == "FAILED_CHECK"
    client.post(person, sent, format="json")  # the same once more
    (row,) = client.get(f"{link}log/").json()["results"]
    assert (row["worker"], row["decision"], row["by"]) == ("ben", "reject", "rana")


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"decision": "reject", "category": "OTHER", "reason": "x" * 99}, "#/reason"),
        ({"decision": "reject", "reason": "x" * 100}, "#/category"),
        ({"decision": "approve", "category": "OTHER"}, "#/category"),
        ({"decision": "pay"}, "#/decision"),
    ],
)
def test_what_will_not_do_is_refused_with_its_field(crowd, sent, pointer):
    client, people, link = crowd
    response = client.post(f"{link}people/{people['ada'].public_id}/", sent, format="json")
    assert response.status_code == 400
    assert response.json()["errors"][0]["pointer"] == pointer
    assert not Decision.objects.exists()


def test_who_decided_meanwhile_is_a_conflict(crowd):
    client, people, link = crowd
    decide_on_submission(people["ada"], User.objects.get(), "approve")
    sent = {"decision": "open", "seen": None}
    response = client.post(f"{link}people/{people['ada'].public_id}/", sent, format="json")
    assert response.status_code == 409
    assert "rana decided meanwhile: approve" in response.json()["detail"]


def test_an_appeal_and_its_answer_are_read_and_filtered_for(crowd):
    client, people, link = crowd
    rana = User.objects.get()
    person = f"{link}people/{people['ben'].public_id}/"
    assert client.get(person).json()["appeal"] is None
    refused = decide_on_submission(people["ben"], rana, "reject", "FAILED_CHECK", REASON)
    row = create_appeal(people["ben"], "I ticked often.")
    told = client.get(person).json()["appeal"]
    assert (told["decision"], told["text"]) == (str(refused.public_id), "I ticked often.")
    assert told["answer"] is None
    found = client.get(link, {"appeal": "waiting"}).json()["results"]
    assert [one["worker"] for one in found] == ["ben"]
    answer_appeal(row, rana, "You are right.", approve=True)
    told = client.get(person).json()
    assert told["decision"]["decision"] == "approve"
    given = told["appeal"]["answer"]
    assert (given["text"], given["approved"], given["by"]) == ("You are right.", True, "rana")
    assert client.get(link, {"appeal": "waiting"}).json()["results"] == []
