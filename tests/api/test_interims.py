"""Grades of the answers so far by REST."""

import pytest

from evaluation.models import Interim, Run, WorkerGrade
from evaluation.models.runs import RunOfRecord
from evaluation.runs.background import runs as lifecycle
from tests.api.conftest import Api, problem
from tests.evaluation.interim.test_turns import hand_in, made, nobody_rings, work

__all__ = ["made", "nobody_rings"]  # fixtures

pytestmark = pytest.mark.django_db


@pytest.fixture
def asks(made):
    question_set = made.version.question_set
    client = Api(question_set.owner)

    def ask(method, end="", **headers):
        address = f"question-sets/{question_set.public_id}/collection/interims/{end}"
        return client.ask(method, address, **headers)

    ask.get = client.get
    return ask


def test_the_answers_so_far_are_graded_and_read_with_what_ten_more_would_bring(asks, made):
    told = problem(asks("POST"), 409, "conflict")
    assert (told["reason"], told["people"], told["needed"]) == ("too_few_people", 0, 3)
    hand_in(made, "ada", "ben", "cy", "dot")
    before = asks("GET", "latest/").json()
    assert (before["people"], before["needed"], before["may_grade"]) == (4, 3, True)
    assert before["latest"] is before["going"] is before["failed"] is None
    started = asks("POST")
    assert started.status_code == 202, started.content
    body = started.json()
    assert (body["name"], body["people"], body["state"]) == ("Interim, 4 people", 4, "queued")
    assert body["results"] is body["headline"] is body["ten_more"] is None
    assert started["Location"].endswith(f"/runs/{body['run']}/")
    assert int(started["Retry-After"]) > 0
    assert asks("GET", "latest/").json()["going"]["run"] == body["run"]
    work()
    hand_in(made, "eve")
    after = asks("GET", "latest/").json()
    latest = after["latest"]
    assert (latest["run"], latest["state"], latest["people"]) == (body["run"], "done", 4)
    assert latest["headline"].endswith(".")
    assert (after["people"], after["since"], after["may_grade"]) == (5, 1, True)
    ten = latest["ten_more"]
    assert (ten["people"], ten["questions"], ten["answers"]) == (10, 5, 50)
    assert ten["off_then"] < ten["off"]
    assert after["nearer_percent"] == round(100 * (1 - ten["off_then"] / ten["off"])) > 0
    ranks = [one["rank"] for one in (*after["best"], *after["lowest"])]
    assert min(ranks) == 1
    # The grade of everybody stands where those of any run do.
    grades = asks.get(f"{latest['results']}workers/").json()["results"]
    assert {one["name"] for one in grades} == {"ada", "ben", "cy", "dot"}
    assert grades[0]["grade"]["value"] == WorkerGrade.objects.order_by("-grade").first().grade
    assert not RunOfRecord.objects.exists()


def test_one_at_a_time_and_a_request_that_is_sent_again_starts_no_second(asks, made):
    hand_in(made, "ada", "ben", "cy")
    first = asks("POST", Idempotency_Key="one").json()
    again = asks("POST", Idempotency_Key="one")
    assert (again.json(), again["Idempotency-Replayed"]) == (first, "true")
    assert asks("POST").json()["run"] == first["run"]
    assert Run.objects.count() == 1


def test_they_are_listed_newest_first_a_page_at_a_time(asks, made):
    hand_in(made, "ada", "ben", "cy")
    names = []
    for more in ("dot", "eve", "flo"):
        names.insert(0, asks("POST").json()["name"])
        lifecycle.cancel_run(Run.objects.latest("pk"))
        hand_in(made, more)
    page = asks("GET", "?limit=2").json()
    seen = [one["name"] for one in page["results"]]
    assert len(seen) == 2
    seen += [one["name"] for one in asks.get(page["next"]).json()["results"]]
    assert seen == names == ["Interim, 5 people", "Interim, 4 people", "Interim, 3 people"]
    assert asks("GET", "latest/").json()["failed"]["name"] == "Interim, 5 people"


def test_too_many_runs_are_refused_in_words(asks, made, settings):
    settings.RUNS_PER_USER = 0
    hand_in(made, "ada", "ben", "cy")
    told = problem(asks("POST"), 409, "conflict")
    assert "runs under way" in told["detail"]
    assert not Interim.objects.exists()
