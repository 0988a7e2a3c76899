"""Collections by REST: published, read, changed, paused, closed, widened; links and lists."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotations.answering import collecting
from annotations.models import (
    Admission,
    Collection,
    Membership,
    QuestionSet,
    Share,
    Submission,
    Team,
)
from evaluation.models import ScoreRule
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published
from tests.api.conftest import Api, problem
from tests.evaluation.grading.results.world import finished

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana(db):
    return User.objects.create_user("rana", is_staff=True)


@pytest.fixture
def tides(rana):
    return made_set(rana)


@pytest.fixture
def asks(rana, tides):
    """Asks of Rana's set as Rana: `asks("POST", "places/", {...})`."""
    return of(tides, rana)


def of(question_set, user):
    client = Api(user)

    def ask(method, end="", body=None, **headers):
        address = f"question-sets/{question_set.public_id}/collection/{end}"
        return client.ask(method, address, body, **headers)

    return ask


def test_a_set_is_published_answered_through_the_link_and_read(asks, tides):
    problem(asks("GET"), 404, "not-found")
    sent = {"places": 2, "protocol": "open", "pay": "2.50", "currency": "GBP"}
    made = asks("POST", body=sent)
    assert made.status_code == 201, made.content
    collection = Collection.objects.get()
    body = made.json()
    assert body["link"] == f"http://testserver/answer/{collection.public_id}/"
    assert body["panel_link"].startswith(
        f"{body['link']}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY"
    )
    assert body | sent == body
    assert (body["state"], body["panel"], body["title"]) == ("open", "Prolific", "tides")
    assert collection.version.is_published
    assert made["Location"] == f"http://testserver{made.wsgi_request.path}"
    assert asks("GET").json() == body
    ada = Browser(type("Made", (), {"link": body["link"], "collection": collection}), "ada")
    ada.begin()
    assert Submission.objects.get().worker.external_id == "ada"


def test_the_key_of_a_link_is_never_sent(asks):
    sent = asks("POST", body={"places": 2})
    assert Collection.objects.get().secret not in sent.content.decode()
    assert "secret" not in sent.json()


def test_publishing_again_changes_what_differs_and_keeps_the_link(asks):
    first = asks("POST", body={"places": 2}).json()
    again = asks("POST", body={"places": 5})
    assert again.status_code == 200
    assert again.json() == first | {"places": 5}
    assert Collection.objects.count() == 1


def test_a_request_that_is_sent_again_with_its_key_is_done_once(asks):
    key = {"Idempotency_Key": "publish-1"}
    first = asks("POST", body={"places": 2}, **key)
    again = asks("POST", body={"places": 2}, **key)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again["Idempotency-Replayed"] == "true"
    more = {"more": 3}
    for _ in range(2):
        added = asks("POST", "places/", more, Idempotency_Key="places-1")
        assert added.json()["places"] == 5
    assert Collection.objects.get().places == 5
    problem(asks("POST", "places/", {"more": 4}, Idempotency_Key="places-1"), 422, "key-reused")


def test_an_answer_is_not_given_again_to_who_lost_access(asks, tides):
    tara = User.objects.create_user("tara", is_staff=True)
    team = Team.objects.create(owner=tides.owner, name="t")
    membership = Membership.objects.create(team=team, user=tara)
    QuestionSet.objects.update(team=team)
    taras = of(tides, tara)
    assert taras("POST", body={"places": 2}, Idempotency_Key="a").status_code == 201
    assert taras("POST", "places/", {"more": 1}, Idempotency_Key="b").status_code == 200
    membership.delete()
    problem(taras("POST", body={"places": 2}, Idempotency_Key="a"), 404, "not-found")
    problem(taras("POST", "places/", {"more": 1}, Idempotency_Key="b"), 404, "not-found")


def test_what_nobody_can_answer_is_not_published(asks, tides):
    tides.latest_version().questions.all().delete()
    told = problem(asks("POST", body={"places": 2}), 409, "conflict")
    assert told["reason"] == "no_questions"
    assert not Collection.objects.exists()


@pytest.mark.parametrize(
    ("sent", "pointer", "code"),
    [
        ({}, "#/places", "places_missing"),
        ({"places": 0}, "#/places", "min_value"),
        ({"places": 2, "answers_per_question": 3}, "#/answers_per_question", "too_few_places"),
        ({"places": 2, "pay": "1.00"}, "#/currency", "currency_missing"),
        ({"places": 2, "worker_parameter": "a=b"}, "#/worker_parameter", "bad_parameter"),
        ({"places": 2, "return_url": "javascript:x"}, "#/return_url", "bad_address"),
        ({"places": 2, "reading_seconds": 9}, "#/reading_seconds", "min_value"),
        ({"places": 2, "reservation_minutes": 10**8}, "#/reservation_minutes", "max_value"),
        ({"places": 2, "plases": 3}, "#/plases", "unknown_key"),
        ({"places": 2, "secret": "x"}, "#/secret", "unknown_key"),
        ({"places": 2, "excludes": ["01980000-0000-7000-8000-000000000001"]}, "#/excludes/0",
         "unknown_set"),
        ({"places": 2, "checks_needed": 1}, "#/checks_needed", "too_few_checks"),
        ({"places": 2, "screened_out_pay": "0.50"}, "#/pay", "part_without_pay"),
        ({"places": 2, "code_done": "A", "code_too_late": "A"}, "#/code_done",
         "code_done_not_unique"),
    ],
)  # fmt: skip
def test_settings_that_will_not_do_are_named_and_nothing_is_stored(asks, sent, pointer, code):
    told = problem(asks("POST", body=sent), 400, "invalid")
    (fault,) = told["errors"]
    assert fault["pointer"] == pointer
    assert fault["code"] == code
    assert not Collection.objects.exists()


def test_settings_are_changed_one_by_one_and_null_takes_a_wish_back(asks):
    before = asks("POST", body={"places": 4, "answers_per_question": 2}).json()
    after = asks("PATCH", body={"practice_needed": 1, "answers_per_question": None}).json()
    assert after == before | {"practice_needed": 1, "answers_per_question": None}
    problem(asks("PATCH", body={"state": "closed", "places": 0}), 400, "invalid")
    assert asks("PATCH", body={"state": "closed"}).json()["state"] == "open"  # only read


def test_what_must_stay_stays_once_somebody_has_begun(asks):
    asks("POST", body={"places": 4, "protocol": "open"})
    collection = Collection.objects.get()
    made = type("Made", (), {"link": asks("GET").json()["link"], "collection": collection})
    Browser(made, "ada").begin()
    told = problem(asks("PATCH", body={"protocol": "recall", "places": 9}), 409, "conflict")
    assert told["errors"][0]["pointer"] == "#/protocol"
    assert Collection.objects.get().places == 4
    assert asks("PATCH", body={"places": 9}).json()["places"] == 9


def test_it_is_paused_opened_and_closed_and_two_who_do_so_do_not_undo_each_other(asks):
    asks("POST", body={"places": 4})
    assert asks("POST", "state/", {"state": "paused", "was": "open"}).json()["state"] == "paused"
    assert asks("POST", "state/", {"state": "paused", "was": "open"}).status_code == 200
    told = problem(asks("POST", "state/", {"state": "closed", "was": "open"}), 409, "conflict")
    (fault,) = told["errors"]
    assert (fault["pointer"], fault["code"]) == ("#/was", "other_state")
    assert "paused" in told["detail"]
    closed = asks("POST", "state/", {"state": "closed"}).json()
    assert (closed["state"], closed["closed_at"] is None) == ("closed", False)
    assert asks("POST", "state/", {"state": "open"}).json()["closed_at"] is None
    problem(asks("POST", "state/", {"state": "ajar"}), 400, "invalid")


def test_places_are_added_to_those_that_were_seen(asks):
    asks("POST", body={"places": 4})
    assert asks("POST", "places/", {"more": 2, "was": 4}).json()["places"] == 6
    told = problem(asks("POST", "places/", {"more": 2, "was": 4}), 409, "conflict")
    (fault,) = told["errors"]
    assert (fault["pointer"], fault["code"]) == ("#/was", "other_places")
    assert re.findall(r"\d+", told["detail"]) == ["6", "4"]
    told = problem(asks("POST", "places/", {"more": 100_000}), 400, "invalid")
    assert told["errors"][0]["pointer"] == "#/more"
    assert Collection.objects.get().places == 6


def test_signed_links_let_their_own_worker_in_and_nobody_else(asks):
    asks("POST", body={"places": 4, "signed": True, "protocol": "open"})
    ids = {"workers": ["ada & co", "ben", "ben"]}
    links = asks("POST", "links/", ids).json()["links"]
    assert [one["worker"] for one in links] == ["ada & co", "ben"]
    assert asks("POST", "links/", ids).json()["links"] == links
    inside = Client().get(links[0]["link"])
    assert "Begin" in inside.content.decode()
    forged = Client().get(links[1]["link"].replace("ben", "eve"))
    assert forged.status_code == 403
    told = problem(asks("POST", "links/", {"workers": ["ada", "b\nb"]}), 400, "invalid")
    assert told["errors"][0]["pointer"] == "#/workers/1"
    problem(asks("POST", "links/", {"workers": []}), 400, "invalid")


def test_a_list_says_who_may_take_part(asks):
    asks("POST", body={"places": 4, "listed_only": True, "protocol": "open"})
    sent = {"workers": [f"w{i:03}" for i in range(70)], "why": "pilot"}
    assert asks("POST", "admissions/", sent).json() == {"n_ids": 70, "given": 70, "new": 70}
    more = {"workers": ["w000", "x"]}
    assert asks("POST", "admissions/", more, Idempotency_Key="k").json() == {
        "n_ids": 2,
        "given": 2,
        "new": 1,
    }
    assert asks("POST", "admissions/", more, Idempotency_Key="k").json() == {
        "n_ids": 2,
        "given": 2,
        "new": 1,
    }
    page = asks("GET", "admissions/").json()
    seen = page["results"]
    assert seen[0] == {"worker": "w000", "why": "pilot", "by_score": False}
    while page["next"]:
        page = Api(User.objects.get()).get(page["next"]).json()
        seen += page["results"]
    assert [one["worker"] for one in seen] == [*sent["workers"], "x"]
    link = asks("GET").json()["link"]
    assert "Begin" in Client().get(f"{link}?PROLIFIC_PID=x").content.decode()
    assert "for other people" in Client().get(f"{link}?PROLIFIC_PID=y").content.decode()


def test_who_was_put_on_the_list_by_hand_is_taken_off_it(asks):
    asks("POST", body={"places": 4, "listed_only": True, "protocol": "open"})
    asks("POST", "admissions/", {"workers": ["ada", "ben", "eve"]})
    link = asks("GET").json()["link"]
    assert "Begin" in Client().get(f"{link}?PROLIFIC_PID=ada").content.decode()
    Admission.objects.filter(external_id="eve").update(by_score=True)
    sent = {"workers": ["ada", "eve", "ada", "zoe"]}
    told = {"n_ids": 3, "given": 3, "off": 1, "by_score": 1}
    assert asks("POST", "admissions/strike/", sent).json() == told
    assert asks("POST", "admissions/strike/", sent).json() == told | {"off": 0}
    assert "for other people" in Client().get(f"{link}?PROLIFIC_PID=ada").content.decode()
    who = [one["worker"] for one in asks("GET", "admissions/").json()["results"]]
    assert who == ["ben", "eve"]


def test_sets_exclude_each_others_workers_and_unseen_ones_stay(asks, rana, tides):
    second, hidden = made_set(rana, "second"), made_set(rana, "concealed")
    asks("POST", body={"places": 4})
    sent = [str(second.public_id), str(hidden.public_id)]
    assert asks("PATCH", body={"excludes": sent}).json()["excludes"] == sent
    # Tara is in the team of two of the sets, and sees nothing of the third.
    tara = User.objects.create_user("tara", is_staff=True)
    team = Team.objects.create(owner=rana, name="t")
    Membership.objects.create(team=team, user=tara)
    QuestionSet.objects.exclude(pk=hidden.pk).update(team=team)
    taras = of(tides, tara)
    assert taras("GET").json()["excludes"] == sent[:1]
    told = problem(taras("PATCH", body={"excludes": sent}), 400, "invalid")
    assert told["errors"][0]["pointer"] == "#/excludes/1"
    assert taras("PATCH", body={"excludes": []}).json()["excludes"] == []
    assert asks("GET").json()["excludes"] == sent[1:]
    # The same on the site: she is not told its name, and does not undo it.
    client = Client()
    client.force_login(tara)
    page = client.get(reverse("admin:collecting-settings", args=[tides.public_id]))
    assert "second" in page.content.decode()
    assert "concealed" not in page.content.decode()
    form = page.context["form"]
    values = {
        name: "" if value is None else value
        for name, value in form.initial.items()
        if value is not False and name != "excludes"
    }
    saved = client.post(page.wsgi_request.path, values)
    assert saved.status_code == 302
    assert asks("GET").json()["excludes"] == sent[1:]


def test_a_set_of_another_owner_cannot_be_excluded(asks, rana):
    otto = User.objects.create_user("otto", is_staff=True)
    theirs = made_set(otto, "theirs")
    Share.objects.create(question_set=theirs, user=rana, role="viewer")
    told = problem(
        asks("POST", body={"places": 4, "excludes": [str(theirs.public_id)]}), 400, "invalid"
    )
    assert "same owner" in told["detail"]
    assert not Collection.objects.exists()  # nothing is half published


def test_the_bounds_of_numbers_hold_at_every_door(tides):
    made = collecting.publish_question_set(tides, places=2).collection
    for name, (least, most) in collecting.BOUNDS.items():
        for value in (least - 1, most + 1):
            with pytest.raises(collecting.SettingsError) as refused:
                collecting.change_settings(made, **{name: value})
            assert refused.value.field == name
            made.refresh_from_db()
        collecting.change_settings(made, **{name: least})
        if name != "checks_needed":  # no more than the version has
            collecting.change_settings(made, **{name: most})


# By what somebody scored in an earlier set.


@pytest.fixture
def earlier(db):
    """Four people of Prolific: leave-one-out .65, .5667, .4833 and .4, the last with too few."""
    run = finished()
    run.owner.is_staff = True
    run.owner.save()
    return run


def test_an_earlier_score_admits_and_is_counted_first(earlier):
    later = published(made_set(earlier.owner), protocol="open", places=9, panel="Prolific")
    asks = of(later.version.question_set, earlier.owner)
    nothing = asks("GET", "score-rule/").json()
    assert nothing["earlier"] is nothing["end"] is nothing["run"] is None
    rule = {
        "earlier": str(earlier.version.question_set.public_id),
        "at_least": 0.5,
        "end": "score",
    }
    counted = asks("POST", "score-rule/count/", rule).json()
    assert counted == {
        "admitted": 2,
        "graded": 4,
        "too_few": 1,
        "run": str(earlier.public_id),
    }
    assert not ScoreRule.objects.exists()
    for _ in range(2):
        kept = asks("PUT", "score-rule/", rule)
        assert kept.status_code == 200, kept.content
    assert kept.json() | rule == kept.json()
    assert (kept.json()["admitted"], kept.json()["by_hand"]) == (2, 0)
    assert asks("GET", "score-rule/").json() == kept.json()
    assert asks("GET").json()["by_score"] is True
    who = {one["worker"]: one["by_score"] for one in asks("GET", "admissions/").json()["results"]}
    assert who == {"w001": True, "w002": True}
    dropped = asks("DELETE", "score-rule/").json()
    assert dropped["earlier"] is None
    assert asks("GET").json()["by_score"] is False
    told = problem(
        asks("PUT", "score-rule/", rule | {"earlier": str(later.version.public_id)}), 400, "invalid"
    )
    assert told["errors"][0]["pointer"] == "#/earlier"
    problem(asks("PUT", "score-rule/", rule | {"at_least": "NaN"}), 400, "invalid")


# Who may, and how often.


def test_who_may_only_look_reads_and_changes_nothing(asks, tides):
    asks("POST", body={"places": 4})
    vera, ed = (User.objects.create_user(name) for name in ("vera", "ed"))
    Share.objects.create(question_set=tides, user=vera, role="viewer")
    Share.objects.create(question_set=tides, user=ed, role="expert")
    veras, eds = of(tides, vera), of(tides, ed)
    seen = veras("GET")
    assert seen.status_code == 200
    # The codes are for those who pay: a viewer could claim another one's money with them.
    codes = {name: value for name, value in seen.json().items() if name.startswith("code_")}
    assert len(codes) == 6
    assert set(codes.values()) == {""}
    assert asks("GET").json()["code_done"] == tides.latest_version().collection.code_done
    changes = (
        ("POST", "", {"places": 9}),
        ("PATCH", "", {"places": 9}),
        ("POST", "state/", {"state": "closed"}),
        ("POST", "places/", {"more": 1}),
        ("POST", "links/", {"workers": ["a"]}),
        ("POST", "admissions/", {"workers": ["a"]}),
        ("DELETE", "score-rule/", None),
        ("POST", "interims/", None),
    )
    for method, end, body in changes:
        problem(veras(method, end, body), 403, "forbidden")
        problem(eds(method, end, body), 404, "not-found")
    for end in ("", "admissions/", "interims/", "interims/latest/"):
        problem(eds("GET", end), 404, "not-found")
        problem(of(tides, None)("GET", end), 401, "not-authenticated")
    collection = Collection.objects.get()
    assert (collection.places, collection.state) == (4, "open")
    assert not collection.admissions.exists()


def test_too_many_requests_are_told_to_wait(asks, monkeypatch):
    from crowdgrade.rest.permissions import UserThrottle

    monkeypatch.setattr(UserThrottle, "rate", "2/minute", raising=False)
    monkeypatch.setattr(UserThrottle, "get_rate", lambda self: "2/minute")
    cache.clear()
    asks("GET")
    asks("GET")
    told = asks("POST", body={"places": 2})
    problem(told, 429, "throttled")
    assert int(told["Retry-After"]) > 0
    assert not Collection.objects.exists()
