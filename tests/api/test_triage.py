"""Deciding about people over the API."""

import pytest

from evaluation.models import WorkerGrade, WorkerVerdict


@pytest.fixture
def run(world):
    return world.run


@pytest.fixture
def of(api, world):
    """Rana's client, the address of the triage, and the best worker's id."""
    run = world.run
    worker = WorkerGrade.objects.filter(run=run).order_by("-grade", "pk").first().worker
    return api(world.rana), f"runs/{run.public_id}/results/triage/", worker


def test_the_queue_a_worker_a_decision_and_its_taking_back(of):
    rana, triage, worker = of
    queue = rana.get(f"{triage}?who=everybody").json()
    assert (queue["n"], queue["n_open"]) == (3, 3)
    assert len(queue["workers"]["results"]) == 3
    found = rana.get(f"{triage}{worker.public_id}/").json()
    assert found["history"] == []
    assert found["partners"][-1]["key"] == found["comparison"]["partner"]["key"] == "best"
    assert found["comparison"]["pairs"]
    body = {"verdict": "exclude", "category": "own", "reason": "no words", "seen": None}
    made = rana.post(f"{triage}{worker.public_id}/", body)
    assert made.status_code == 200
    assert [one["kind"] for one in made.json()] == ["exclude"]
    queue = rana.get(f"{triage}?who=everybody&show=decided").json()
    assert [row["verdict"]["reason"] for row in queue["workers"]["results"]] == ["no words"]
    undone = rana.post(f"{triage}{worker.public_id}/undo/", {"seen": made.json()[0]["id"]})
    assert [one["kind"] for one in undone.json()] == ["undo", "exclude"]
    assert rana.post(f"{triage}{worker.public_id}/undo/", {}).status_code == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "verdict"),
        ({"verdict": "undo"}, "verdict"),
        ({"verdict": "exclude"}, "category"),
        ({"verdict": "exclude", "category": "own"}, "reason"),
        ({"verdict": "exclude", "category": "machine", "rejects": True}, "rejects"),
        ({"verdict": "accept", "because": "x"}, "because"),
    ],
)
def test_what_will_not_do_names_the_field(of, body, field):
    rana, triage, worker = of
    answer = rana.post(f"{triage}{worker.public_id}/", body)
    assert answer.status_code == 400
    assert field in answer.content.decode()
    assert not WorkerVerdict.objects.exists()


def test_who_decided_meanwhile_is_told(of):
    rana, triage, worker = of
    rana.post(f"{triage}{worker.public_id}/", {"verdict": "accept"})
    late = rana.post(f"{triage}{worker.public_id}/", {"verdict": "look", "seen": None})
    assert late.status_code == 409
    assert late.json()["detail"] == "rana decided meanwhile: Accepted."


def test_a_run_without_the_excluded_is_started(of):
    rana, triage, worker = of
    assert rana.post(f"{triage}apply/", {}).status_code == 409  # nobody is excluded
    rana.post(f"{triage}{worker.public_id}/", {"verdict": "exclude", "category": "copied"})
    seen = rana.get(f"{triage}apply/").json()
    assert len(seen["left_out"]) == 1
    ids = [one["verdict"]["id"] for one in seen["left_out"]]
    assert rana.post(f"{triage}apply/", {"verdicts": []}).status_code == 409
    made = rana.post(f"{triage}apply/", {"name": "without", "verdicts": ids})
    assert made.status_code == 202
    assert made.json()["name"] == "without"
    assert len(made.json()["parameters"]["exclude_workers"]) == 1


def test_a_run_leaves_out_the_excluded_unless_the_request_names_whom(of, world):
    rana, triage, worker = of
    rana.post(f"{triage}{worker.public_id}/", {"verdict": "exclude", "category": "copied"})
    asked = {"question_set": str(world.set.public_id), "parameters": {"embedder": "bow"}}
    made = rana.post("runs/", asked)
    assert made.status_code == 202
    assert made.json()["parameters"]["exclude_workers"] == [worker.external_id]
    bare = rana.post("runs/", {"question_set": asked["question_set"], "kind": "crowd-size"})
    assert bare.json()["parameters"]["exclude_workers"] == [worker.external_id]
    asked["parameters"]["exclude_workers"] = []
    assert rana.post("runs/", asked).json()["parameters"]["exclude_workers"] == []
    # A run is repeated as it was.
    again = rana.post(f"runs/{world.run.public_id}/again/")
    assert again.json()["parameters"]["exclude_workers"] == []


def test_everybody_else_is_accepted_and_taken_back_as_one(of):
    rana, triage, worker = of
    rana.post(f"{triage}{worker.public_id}/", {"verdict": "exclude", "category": "copied"})
    rest = rana.get(f"{triage}accept/?alarms=true").json()
    assert (rest["n"], rest["n_decided"], rest["accepted"]) == (2, 1, [])
    body = {"alarms": True, "seen": rest["seen"]}
    done = rana.post(f"{triage}accept/", body)
    assert done.status_code == 201
    assert (done.json()["n"], done.json()["by"]) == (2, "rana")
    assert rana.post(f"{triage}accept/", body).json() == done.json()  # once more
    rest = rana.get(f"{triage}accept/?alarms=true").json()
    assert (rest["n"], rest["accepted"]) == (0, [done.json()])
    undo = f"{triage}accept/{done.json()['id']}/undo/"
    assert rana.post(undo).json() == {"n": 2, "n_otherwise": 0}
    assert rana.post(undo).status_code == 409
    assert rana.get(f"{triage}?who=everybody").json()["n_open"] == 2


def test_nobody_is_accepted_who_was_not_shown(of):
    rana, triage, worker = of
    assert rana.post(f"{triage}accept/", {"alarms": True}).status_code == 400  # without `seen`
    rest = rana.get(f"{triage}accept/?alarms=true").json()
    rana.post(f"{triage}{worker.public_id}/", {"verdict": "look"})
    late = rana.post(f"{triage}accept/", {"alarms": True, "seen": rest["seen"]})
    assert late.status_code == 409
    now = rana.get(f"{triage}accept/?alarms=true").json()
    assert late.json()["newest"] == now["seen"]
    assert not WorkerVerdict.objects.filter(kind="accept").exists()
    rana.post(f"{triage}accept/", {"alarms": True, "seen": now["seen"]})
    assert rana.post(f"{triage}accept/", {"seen": rest["seen"]}).json()["reason"] == "nobody_left"
    assert rana.get(f"{triage}accept/?who=burn").status_code == 400
