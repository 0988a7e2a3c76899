"""The same by REST: written, checked three times, accepted; and what each sees of it."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotations import writing
from tests.annotations.writing.conftest import APPLES, MADE, published_set


@pytest.fixture(autouse=True)
def no_throttle(settings, monkeypatch):
    from rest_framework.throttling import SimpleRateThrottle

    rates = dict.fromkeys(SimpleRateThrottle.THROTTLE_RATES, "100000/minute")
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)


def as_(person):
    client = APIClient()
    client.force_authenticate(person)
    return client


def of_set(world, name, *more):
    return reverse(f"api:{name}", args=[world.version.question_set.public_id, *more])


def own(world, name, *more):
    return reverse(f"api:{name}", args=[world.project.public_id, *more])


def test_a_problem_is_written_checked_and_accepted(world):
    wanda = as_(world.wanda)
    (part,) = wanda.get(reverse("api:writing-list")).data["results"]
    assert (part["id"], part["role"]) == (str(world.project.public_id), "writer")
    taken = wanda.post(own(world, "own-problems"))
    assert (taken.status_code, taken.data["original"]) == (201, APPLES)
    problem = taken.data["id"]
    at = own(world, "own-problem", problem)
    kept = wanda.patch(at, {"text": MADE}, format="json")
    assert (kept.data["text"], kept.data["state"]) == (MADE, "draft")
    refused = wanda.patch(at, {"text": MADE, "hand_in": True}, format="json")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == "#/category"
    given = wanda.patch(at, {"text": MADE, "category": 2, "hand_in": True}, format="json")
    assert given.data["state"] == "checking"
    again = wanda.patch(at, {"text": "Other", "category": 2}, format="json")
    assert again.status_code == 409
    for name in ("vic", "val", "vin"):
        client = as_(world.people[name])
        (task,) = client.get(own(world, "check-tasks")).data["open"]
        assert set(task) == {"id", "text", "answerable", "category", "note"}
        check = own(world, "check-task", task["id"])
        bad = client.patch(check, {"answerable": False}, format="json")
        assert bad.json()["errors"][0]["pointer"] == "#/category"
        said = client.patch(check, {"answerable": False, "category": 2}, format="json")
        assert said.data["open"] == []
    rana = as_(world.rana)
    told = rana.get(of_set(world, "writing")).data
    assert {one["state"]: one["n"] for one in told["states"] if one["n"]} == {"accepted": 1}
    whole = rana.get(of_set(world, "writing-problem", problem)).data
    assert sorted(vote["validator"] for vote in whole["votes"]) == ["val", "vic", "vin"]
    assert {event["kind"] for event in whole["events"]} == {"begun", "submitted", "accepted"}
    accepted = rana.get(of_set(world, "writing-accepted")).data["problems"]
    assert accepted == list(writing.export_accepted_problems(world.project))


def test_the_requester_begins_invites_decides_and_closes(world):
    rana = as_(world.rana)
    other = published_set(world.rana, "other").question_set.public_id
    at = reverse("api:writing", args=[other])
    assert rana.get(at).status_code == 404
    assert rana.post(at).status_code == 201
    changed = rana.patch(at, {"votes_needed": 2, "is_open": False}, format="json").data
    assert (changed["votes_needed"], changed["is_open"]) == (2, False)
    assert rana.patch(at, {"votes_needed": 10}, format="json").status_code == 400
    people = reverse("api:writing-people", args=[other])
    asked = {"username": "vic", "role": "validator"}
    made = rana.post(people, asked, format="json")
    assert (made.status_code, made.data["username"]) == (201, "vic")
    assert rana.post(people, asked, format="json").status_code == 409
    assert rana.post(people, {**asked, "username": "nobody"}, format="json").status_code == 400
    assert len(rana.get(people).data["results"]) == 1
    person = reverse("api:writing-person", args=[other, made.data["id"]])
    assert rana.delete(person).status_code == 204
    problem = writing.take_question(world.project, world.wanda.pk)
    writing.submit_problem(problem, MADE, 2)
    at = of_set(world, "writing-problem", problem.public_id)
    sent = rana.patch(at, {"state": "returned", "note": "Shorter."}, format="json")
    assert sent.data["state"] == "returned"
    own_one = as_(world.wanda).get(own(world, "own-problem", problem.public_id)).data
    assert own_one["note"] == "Shorter."
    listed = rana.get(of_set(world, "writing-problems"), {"state": "returned"}).data["results"]
    assert [one["problem"] for one in listed] == ["1-1"]
    assert rana.get(of_set(world, "writing-problems"), {"state": "gone"}).status_code == 400


def test_nobody_sees_or_changes_what_is_anothers(world, handed_in):
    writing.vote_on_problem(world.project, world.vic.pk, handed_in.public_id, True, None, "a note")
    addresses = {
        "wanda": own(world, "own-problem", handed_in.public_id),
        "val": own(world, "check-task", handed_in.public_id),
        "rana": of_set(world, "writing-problem", handed_in.public_id),
    }
    for who in ("wanda", "will", "val", "rana"):
        for whose, address in addresses.items():
            found = as_(world.people[who]).get(address)
            assert found.status_code == (200 if who == whose else 404), (who, address)
            if who != "rana":
                assert "a note" not in found.content.decode()
    said = as_(world.val).get(addresses["val"]).content.decode()
    assert "wanda" not in said
    assert APPLES not in said
    assert as_(world.will).delete(addresses["wanda"]).status_code == 404
    assert as_(world.wanda).delete(addresses["wanda"]).status_code == 204
