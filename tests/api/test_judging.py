"""Judging by REST: a requester asks, experts read blindly and judge, the report tells agreement."""

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from annotations.models import Share
from evaluation.models import HumanJudgement, JudgementRequest
from tests.evaluation.runs.run_types.conftest import rivers, with_words
from tests.evaluation.runs.run_types.test_judging import run

__all__ = ["rivers", "run", "with_words"]  # fixtures


def as_(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def rita(rivers):
    return as_(rivers.owner)


def expert(run, name):
    user = User.objects.create_user(name)
    Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    return as_(user)


def of_run(run, name="plenty"):
    return f"/api/v1/runs/{run.public_id}/results/judging/{name}/"


def of_set(run, task=None):
    address = f"/api/v1/question-sets/{run.version.question_set.public_id}/judging/"
    return address if task is None else f"{address}{task}/"


@pytest.mark.slow
def test_experts_are_asked_judge_and_are_compared(rita, run):
    ed, eve = expert(run, "ed"), expert(run, "eve")
    asked = {"count": 2, "seed": 1, "experts": ["ed", "eve"]}
    for _ in range(2):
        report = rita.post(of_run(run), asked, format="json")
        assert report.status_code == 200
    assert JudgementRequest.objects.count() == 4
    assert [one["name"] for one in report.json()["experts"]] == ["ed", "eve"]
    for client, grades in ((ed, "43"), (eve, "53")):
        (queue,) = client.get(of_set(run)).json()["results"]
        assert (queue["total"], queue["done"], queue["scale"]["name"]) == (2, 0, "plenty")
        task = queue["next"]
        for grade in grades:
            shown = client.get(of_set(run, task)).json()
            assert shown["choice"] is None
            assert [part["title"] for part in shown["parts"]] == ["Words"]
            # By what is shown, not by the order, so that both judge the same alike or not.
            saved = client.patch(of_set(run, task), {"choice": grade}, format="json").json()
            assert client.get(of_set(run, task)).json()["choice"] == grade
            task = saved["next"]
        assert task is None
    found = rita.get(of_run(run)).json()
    assert (found["n_drawn"], found["n_given"], found["seed"]) == (2, 4, 1)
    (pair,) = found["between"]
    assert (pair["one"], pair["other"], pair["found"]["n"]) == ("ed", "eve", 2)
    assert {one["other"] for one in found["with_machines"]} == {"counter"}
    table = rita.get(f"/api/v1/runs/{run.public_id}/results/tables/plenty/?format=csv")
    assert b"".join(table.streaming_content).count(b"human:ed") == 2


def test_what_will_not_do_is_refused_with_its_place(rita, run):
    ed = expert(run, "ed")
    User.objects.create_user("otto")
    wrong = rita.post(of_run(run), {"count": 2, "experts": ["ed", "otto"]}, format="json")
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (400, "#/experts/1")
    assert rita.post(of_run(run), {"count": 0, "experts": []}, format="json").status_code == 400
    assert not JudgementRequest.objects.exists()
    rita.post(of_run(run, "sort"), {"count": 1, "experts": ["ed"]}, format="json")
    task = ed.get(of_set(run)).json()["results"][0]["next"]
    refused = ed.patch(of_set(run, task), {"choice": "4"}, format="json")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["detail"] == "Choose one of: few, many."
    assert ed.patch(of_set(run, task), {"choice": "many"}, format="json").status_code == 200
    assert HumanJudgement.objects.get().label == "many"


def test_who_may_do_what(rita, run):
    ed, eve = expert(run, "ed"), expert(run, "eve")
    vera = User.objects.create_user("vera")
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    otto = as_(User.objects.create_user("otto", is_staff=True))
    asked = {"count": 1, "experts": ["ed"]}
    for client, reads, asks in ((as_(vera), 200, 403), (ed, 404, 404), (otto, 404, 404)):
        assert client.get(of_run(run)).status_code == reads
        assert client.post(of_run(run), asked, format="json").status_code == asks
    assert rita.post(of_run(run), asked, format="json").status_code == 200
    task = ed.get(of_set(run)).json()["results"][0]["next"]
    assert eve.get(of_set(run)).json() == {"results": []}
    for client in (eve, rita, otto):
        assert client.get(of_set(run, task)).status_code == 404
        assert client.patch(of_set(run, task), {"choice": "1"}, format="json").status_code == 404
    assert rita.get(of_run(run, "nothing")).status_code == 404
