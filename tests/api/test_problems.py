"""Every error is a problem document, whoever raised it."""

import sqlite3

import pytest
from django.conf import settings
from django.db import IntegrityError, OperationalError
from rest_framework.throttling import SimpleRateThrottle

from annotations.models import QuestionSet
from annotations.web.rest.problems import KINDS
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db
UNKNOWN = "01980000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    "path", ["nowhere/", "question-sets", f"runs/{UNKNOWN}/", "runs/7/", "/api/", "/api/v2/runs/"]
)
def test_addresses_that_are_none_are_404(api, rana, path):
    problem(api(rana).get(path), 404, "not-found")


def test_a_method_that_is_not_taken_is_405_and_says_which_are(api, rana):
    asking = api(rana)
    for method in ("DELETE", "PUT", "OPTIONS"):
        response = asking.ask(method, "runs/")
        problem(response, 405, "method-not-allowed")
        assert "POST" in response.headers["Allow"]
    problem(asking.post("docs/"), 405, "method-not-allowed")


def test_only_json_is_offered(api, rana):
    problem(api(rana).get("runs/", accept="text/html"), 406, "not-acceptable")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("question-sets/", "text/plain"),
        ("question-sets/", "application/x-www-form-urlencoded"),
        ("runs/", "application/x-ndjson"),
    ],
)
def test_a_body_of_another_kind_is_415(api, rana, path, kind):
    problem(api(rana).post(path, "a", kind=kind), 415, "unsupported-media-type")


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '{"name": NaN}', b"\xff\xfe"])
def test_a_body_that_is_no_json_is_400(api, rana, world, body):
    asking = api(rana)
    problem(asking.post("question-sets/", body), 400, "malformed")
    address = f"question-sets/{world.set.public_id}/answers/"
    problem(asking.post(address, body), 400, "malformed")


def test_a_value_that_will_not_do_is_named_by_a_pointer(api, rana):
    asking = api(rana)
    body = problem(asking.post("question-sets/", {"name": "", "nmae": 1}), 400, "invalid")
    assert {error["pointer"] for error in body["errors"]} == {"#/name", "#/nmae"}
    assert body["instance"] == "/api/v1/question-sets/"
    body = problem(asking.post("question-sets/", [1]), 400, "invalid")
    assert [error["pointer"] for error in body["errors"]] == ["#"]


def test_a_body_that_is_too_large_is_413_before_it_is_read(api, rana, world):
    asking = api(rana)
    small = "x" * (settings.API_SMALL_BYTES + 1)
    problem(asking.post("question-sets/", small), 413, "too-large")
    address = f"question-sets/{world.set.public_id}/answers/"
    # Rows may be larger than that.
    problem(asking.post(address, small), 400, "malformed")


def test_rows_have_a_bound_of_their_own(api, rana, world, settings):
    settings.API_BULK_BYTES = 1000
    address = f"question-sets/{world.set.public_id}/answers/"
    problem(api(rana).post(address, "x" * 1001), 413, "too-large")


def test_too_many_requests_are_429_and_say_how_long_to_wait(api, rana, world, monkeypatch):
    rates = {"anonymous": "2/minute", "user": "4/minute", "bulk": "1/minute"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    asking, nobody = api(rana), api()
    address = f"question-sets/{world.set.public_id}/answers/"
    assert [asking.post(address, {}).status_code for _ in range(2)] == [400, 429]
    assert asking.get("runs/").status_code == 200
    assert asking.get("runs/").status_code == 200
    response = asking.get("runs/")
    problem(response, 429, "throttled")
    assert 0 < int(response.headers["Retry-After"]) <= 60
    # Whoever does not say who asks is counted too, also where that is refused.
    assert [nobody.get("runs/").status_code for _ in range(3)] == [401, 401, 429]


def test_what_nobody_foresaw_is_500_and_says_nothing(api, rana, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("evaluation.api.runs.annotate_runs_for_list", broken)
    response = api(rana).get("runs/")
    body = problem(response, 500, "server-error")
    assert "swordfish" not in response.content.decode()
    assert "detail" not in body
    assert "swordfish" in caplog.text


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (IntegrityError("human_judgement_once_per_expert"), 409, "conflict"),
        (QuestionSet.DoesNotExist("gone"), 404, "not-found"),
    ],
)
def test_who_was_overtaken_by_another_request_gets_409_or_404_and_the_cause_is_logged(
    api, rana, monkeypatch, caplog, error, status, code
):
    def overtaken(*_):
        raise error

    monkeypatch.setattr("evaluation.api.runs.annotate_runs_for_list", overtaken)
    problem(api(rana).get("runs/"), status, code)
    assert [one.exc_info[1] for one in caplog.records if one.exc_info] == [error]


def test_a_database_that_is_busy_is_503(api, rana, monkeypatch):
    def busy(*_, **__):
        cause = sqlite3.OperationalError("database is locked")
        cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise OperationalError("database is locked") from cause

    monkeypatch.setattr("evaluation.api.runs.annotate_runs_for_list", busy)
    response = api(rana).get("runs/")
    assert "locked" not in str(problem(response, 503, "busy"))
    assert response.headers["Retry-After"]


def test_a_host_that_is_not_ours_gets_a_problem_too(api, rana):
    response = api(rana).get("runs/", host="evil.example")
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/problem+json"


def test_every_kind_of_problem_has_an_address_that_explains_it(api):
    for code, kind in KINDS.items():
        answer = api().get(f"problems/{code}/")
        assert answer.json() == {"code": code, "title": kind.title, "status": kind.status}
    problem(api().get("problems/other/"), 404, "not-found")


def test_what_belongs_to_somebody_is_kept_by_nobody_on_the_way(api, rana):
    response = api(rana).get("runs/")
    assert response.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in response.headers
    assert "Content-Security-Policy-Report-Only" not in response.headers
    policy = response.headers["Content-Security-Policy"]
    assert sorted(policy.split("; ")) == ["default-src 'none'", "frame-ancestors 'none'"]


@pytest.mark.parametrize(
    ("body", "half"),
    [(r'{"\ud800": 1}', r"\ud800"), (r'{"name": ["a", {"b": "x\udfff"}]}', r"\udfff")],
)
def test_half_a_surrogate_pair_is_malformed_wherever_it_stands(api, rana, body, half):
    found = problem(api(rana).post("question-sets/", body), 400, "malformed")
    assert f"({half})" in found["detail"]


@pytest.mark.parametrize("path", ["runs/?state=%00", "question-sets/?search=a%00b"])
def test_a_nul_character_in_an_address_is_malformed(api, rana, path):
    problem(api(rana).get(path), 400, "malformed")
